//! Reads files and standard input, plain or compressed, in chunks of complete records.

use super::records::Format;
use crate::error::{Error, Result, shown};
use crate::progress::Progress;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// The size of a chunk: large enough that switching between threads is cheap, small enough that
/// the chunk stays in the cache until it is hashed.
const CHUNK: usize = 1 << 19;
/// The maximum size of a record: longer ones mean that the input has another format.
const MAX_RECORD: usize = 1 << 28;

/// The inputs of a command, in order.
pub struct Inputs {
    paths: Vec<PathBuf>,
    /// The total number of bytes, if it is known.
    total: Option<u64>,
}

impl Inputs {
    /// The given files, or standard input if there is none. Fails early for files that do not
    /// exist.
    pub fn new(paths: &[PathBuf]) -> Result<Self> {
        let paths = if paths.is_empty() { vec![PathBuf::from("-")] } else { paths.to_vec() };
        let sizes: Vec<_> = paths.iter().map(|path| size(path)).collect::<Result<_>>()?;
        Ok(Self { paths, total: sizes.into_iter().sum() })
    }

    /// The total number of bytes to read, if it is known.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Whether all are regular files, which can be read more than once.
    pub fn are_files(&self) -> bool {
        self.total.is_some()
    }

    /// Whether one of them is standard input.
    pub fn include_stdin(&self) -> bool {
        self.paths.iter().any(|path| is_stdin(path))
    }

    /// The number of inputs.
    #[cfg(feature = "parquet")]
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// The path of an input; `None` for standard input.
    #[cfg(feature = "parquet")]
    pub fn path(&self, index: usize) -> Option<&Path> {
        self.paths.get(index).map(PathBuf::as_path).filter(|path| !is_stdin(path))
    }

    /// The error for inputs without any key.
    pub fn empty(&self) -> Error {
        Error::at(self.name(0), "contains no keys: at least one is needed")
    }

    /// The location of a record of an input, for a message.
    pub fn location(&self, input: usize, format: &Format, record: u64) -> String {
        format!("{}, {} {}", shown(self.name(input)), format.record_name(), record + 1)
    }

    /// The name of an input in messages.
    pub fn name(&self, index: usize) -> &Path {
        match self.paths.get(index) {
            Some(path) if !is_stdin(path) => path,
            _ => Path::new("standard input"),
        }
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The size of a regular file; `None` for pipes and the like.
fn size(path: &Path) -> Result<Option<u64>> {
    if is_stdin(path) {
        return Ok(None);
    }
    let metadata = path.metadata().map_err(|error| Error::io(path, &error))?;
    if metadata.is_dir() {
        return Err(Error::io(path, &io::ErrorKind::IsADirectory.into()));
    }
    Ok(metadata.is_file().then_some(metadata.len()))
}

/// Complete records of one input.
#[derive(Default)]
pub struct Chunk {
    /// The index of the input.
    pub input: usize,
    /// The records are the first `len` bytes; the rest is spare capacity.
    buffer: Vec<u8>,
    len: usize,
}

impl Chunk {
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }
}

/// Reads the inputs in order.
pub struct Source<'a> {
    inputs: &'a Inputs,
    format: Format,
    progress: &'a Progress,
    /// The index of the input that is being read, or opened next.
    index: usize,
    reader: Option<Reader<'a>>,
    /// The beginning of a record whose end has not been read yet.
    carry: Vec<u8>,
}

impl<'a> Source<'a> {
    pub fn new(inputs: &'a Inputs, format: Format, progress: &'a Progress) -> Self {
        Self { inputs, format, progress, index: 0, reader: None, carry: Vec::new() }
    }

    /// Fills the chunk with the next complete records. Returns false at the end of all inputs.
    pub fn fill(&mut self, chunk: &mut Chunk) -> Result<bool> {
        while self.index < self.inputs.paths.len() {
            let outcome = self.fill_from_input(chunk);
            let name = self.inputs.name(self.index);
            if !outcome.map_err(|error| Error::io(name, &error))? {
                (self.reader, self.index) = (None, self.index + 1);
            }
            if chunk.len > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next records of the current input. Returns false at its end; the chunk may have
    /// records nevertheless.
    fn fill_from_input(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        chunk.input = self.index;
        chunk.len = 0;
        grow(&mut chunk.buffer, CHUNK)?;
        let mut filled = self.start(chunk)?;
        loop {
            if let Some(end) = self.format.whole_records(&chunk.buffer[..filled]) {
                self.carry.try_reserve(filled - end)?;
                self.carry.extend_from_slice(&chunk.buffer[end..filled]);
                chunk.len = end;
                return Ok(true);
            }
            if filled == chunk.buffer.len() {
                self.grow_chunk(chunk)?;
            }
            let Some(reader) = &mut self.reader else { return Ok(false) };
            let count = reader.read(&mut chunk.buffer[filled..], self.progress)?;
            filled += count;
            if count == 0 {
                chunk.len = filled;
                return Ok(false);
            }
        }
    }

    /// Copies the carried-over bytes into the chunk, or the first bytes of a newly opened input.
    /// Returns their number.
    fn start(&mut self, chunk: &mut Chunk) -> io::Result<usize> {
        if self.reader.is_none() {
            let path = &self.inputs.paths[self.index];
            let (reader, first) = open(path, self.format.plain, self.progress)?;
            (self.reader, self.carry) = (Some(reader), first);
        }
        let carried = self.carry.len();
        grow(&mut chunk.buffer, 2 * carried)?;
        chunk.buffer[..carried].copy_from_slice(&self.carry);
        self.carry.clear();
        Ok(carried)
    }

    /// Doubles the buffer of a chunk that is too small for one record.
    fn grow_chunk(&self, chunk: &mut Chunk) -> io::Result<()> {
        let len = chunk.buffer.len();
        if len >= MAX_RECORD {
            let what = format!("a line of more than {MAX_RECORD} bytes: is it the right --input?");
            return Err(io::Error::other(what));
        }
        grow(&mut chunk.buffer, 2 * len)
    }
}

/// Grows a buffer to at least `len` bytes. Fails if there is not enough memory.
fn grow(buffer: &mut Vec<u8>, len: usize) -> io::Result<()> {
    if buffer.len() < len {
        buffer.try_reserve_exact(len - buffer.len())?;
        buffer.resize(len, 0);
    }
    Ok(())
}

/// An opened input.
enum Reader<'a> {
    Plain(Box<dyn Read + Send>),
    Compressed(Box<dyn Read + Send + 'a>),
}

impl Reader<'_> {
    /// Reads plain input once, so that a result does not wait for the next key. Fills the buffer
    /// from compressed input, since the decoder returns small pieces.
    fn read(&mut self, buffer: &mut [u8], progress: &Progress) -> io::Result<usize> {
        match self {
            Self::Plain(file) => {
                let count = retry(|| file.read(buffer))?;
                progress.advance(count as u64);
                Ok(count)
            }
            Self::Compressed(decoder) => {
                let mut filled = 0;
                while filled < buffer.len() {
                    match retry(|| decoder.read(&mut buffer[filled..])).map_err(corrupt)? {
                        0 => break,
                        count => filled += count,
                    }
                }
                Ok(filled)
            }
        }
    }
}

/// Repeats a read that was interrupted by a signal.
fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

/// Converts an error of a decoder.
fn corrupt(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => error,
        _ => io::Error::other(format!("corrupt compressed data ({error}): download it again")),
    }
}

/// The compression of an input, detected by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstd,
}

/// The magic numbers of compressed data. The last is that of a skippable zstd frame.
const MAGICS: [(&[u8], Compression); 3] = [
    (&[0x1f, 0x8b, 0x08], Compression::Gzip),
    (&[0x28, 0xb5, 0x2f, 0xfd], Compression::Zstd),
    (&[0x50, 0x2a, 0x4d, 0x18], Compression::Zstd),
];

impl Compression {
    fn detect(first: &[u8]) -> Option<Self> {
        let found = MAGICS.iter().find(|(magic, _)| first.starts_with(magic));
        found.map(|(_, compression)| *compression)
    }

    /// Whether these bytes are a proper prefix of a magic number.
    fn is_possible(first: &[u8]) -> bool {
        MAGICS.iter().any(|(magic, _)| magic.len() > first.len() && magic.starts_with(first))
    }
}

/// The name of the compression of an input with these first bytes.
#[cfg(feature = "parquet")]
pub fn compression(first: &[u8]) -> Option<&'static str> {
    Compression::detect(first).map(|compression| match compression {
        Compression::Gzip => "gzip",
        Compression::Zstd => "zstd",
    })
}

/// Opens an input. Returns a reader, and the first bytes of a plain input, which have already been
/// read.
fn open<'a>(path: &Path, plain: bool, progress: &'a Progress) -> io::Result<(Reader<'a>, Vec<u8>)> {
    let mut file: Box<dyn Read + Send> =
        if is_stdin(path) { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    let first = if plain { Vec::new() } else { first_bytes(&mut file)? };
    let Some(compression) = Compression::detect(&first) else {
        return Ok((Reader::Plain(file), first));
    };
    let counted = Counted { reader: Cursor::new(first).chain(file), progress };
    let decoder: Box<dyn Read + Send + 'a> = match compression {
        Compression::Gzip => {
            Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(CHUNK, counted)))
        }
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(counted)?),
    };
    Ok((Reader::Compressed(decoder), Vec::new()))
}

/// Reads no more bytes than are needed to detect the compression.
fn first_bytes(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    while Compression::is_possible(&first) {
        let mut byte = [0];
        if retry(|| file.read(&mut byte))? == 0 {
            break;
        }
        first.push(byte[0]);
    }
    Ok(first)
}

/// Reports the progress in compressed bytes, since only their number is known in advance.
struct Counted<'a, R> {
    reader: R,
    progress: &'a Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_is_detected_by_the_first_bytes() {
        assert_eq!(Compression::detect(&[0x1f, 0x8b, 0x08, 0x00]), Some(Compression::Gzip));
        assert_eq!(Compression::detect(&[0x28, 0xb5, 0x2f, 0xfd]), Some(Compression::Zstd));
        assert_eq!(Compression::detect(b"(key"), None);
        assert!(Compression::is_possible(b"") && Compression::is_possible(b"("));
        assert!(!Compression::is_possible(b"k"));
        // No more bytes than needed are read: the next ones may take long to arrive.
        assert_eq!(first_bytes(&mut &b"key"[..]).expect("bytes"), b"k");
        assert_eq!(first_bytes(&mut &b"(key"[..]).expect("bytes"), b"(k");
    }
}
