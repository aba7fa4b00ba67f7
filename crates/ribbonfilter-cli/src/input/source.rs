//! Files and standard input, plain or compressed, in chunks of whole records.

use super::records::Format;
use crate::error::{Error, Result, shown};
use crate::progress::Progress;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// Bytes that are read at once: large enough to make a hand-over between threads cheap, small
/// enough to stay in the cache until they are hashed.
const CHUNK: usize = 1 << 19;
/// The longest record: beyond, the input is surely something else than we were told.
const LONGEST: usize = 1 << 28;

/// The inputs of a command, in their order.
pub struct Inputs {
    paths: Vec<PathBuf>,
    /// All their bytes, where that is known.
    total: Option<u64>,
}

impl Inputs {
    /// The files named, or standard input if there is none. Fails early for files that are not
    /// there.
    pub fn new(paths: &[PathBuf]) -> Result<Self> {
        let paths = if paths.is_empty() { vec![PathBuf::from("-")] } else { paths.to_vec() };
        let sizes: Vec<_> = paths.iter().map(|path| size(path)).collect::<Result<_>>()?;
        Ok(Self { paths, total: sizes.into_iter().sum() })
    }

    /// All bytes to be read, if that is known.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Not one key is in any of them.
    pub fn empty(&self) -> Error {
        Error::at(self.name(0), "no keys there: give some")
    }

    /// Where a record of an input is, for a message.
    pub fn place(&self, input: usize, format: &Format, record: u64) -> String {
        format!("{}, {} {}", shown(self.name(input)), format.record_name(), record + 1)
    }

    /// What an input is called in a message.
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

/// The bytes of a regular file; none for pipes and the like.
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

/// Whole records of one input.
#[derive(Default)]
pub struct Chunk {
    /// Which input.
    pub input: usize,
    /// The records are the first `len` bytes; the others are room to read into.
    buffer: Vec<u8>,
    len: usize,
}

impl Chunk {
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }
}

/// Reads the inputs one after the other.
pub struct Source<'a> {
    inputs: &'a Inputs,
    format: Format,
    progress: &'a Progress,
    /// The input being read or to be opened next.
    index: usize,
    reader: Option<Reader<'a>>,
    /// The begin of a record whose end has not been read yet.
    carry: Vec<u8>,
}

impl<'a> Source<'a> {
    pub fn new(inputs: &'a Inputs, format: Format, progress: &'a Progress) -> Self {
        Self { inputs, format, progress, index: 0, reader: None, carry: Vec::new() }
    }

    /// Fills the chunk with the next whole records; false at the end of all inputs.
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

    /// The next records of the present input; false at its end, which may come with records.
    fn fill_from_input(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        chunk.input = self.index;
        chunk.len = 0;
        grow(&mut chunk.buffer, CHUNK)?;
        let mut filled = self.start(chunk)?;
        loop {
            if let Some(whole) = self.format.whole_records(&chunk.buffer[..filled]) {
                self.carry.try_reserve(filled - whole)?;
                self.carry.extend_from_slice(&chunk.buffer[whole..filled]);
                chunk.len = whole;
                return Ok(true);
            }
            if filled == chunk.buffer.len() {
                self.make_room(chunk)?;
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

    /// Puts what was carried over into the chunk, or the first bytes of an input that has just
    /// been opened.
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

    fn make_room(&self, chunk: &mut Chunk) -> io::Result<()> {
        let len = chunk.buffer.len();
        if len >= LONGEST {
            let what = format!("a line of more than {LONGEST} bytes: is it the right --input?");
            return Err(io::Error::other(what));
        }
        grow(&mut chunk.buffer, 2 * len)
    }
}

/// Makes a buffer at least so long; the system may refuse the memory.
fn grow(buffer: &mut Vec<u8>, len: usize) -> io::Result<()> {
    if buffer.len() < len {
        buffer.try_reserve_exact(len - buffer.len())?;
        buffer.resize(len, 0);
    }
    Ok(())
}

/// One input, opened.
enum Reader<'a> {
    Plain(Box<dyn Read + Send>),
    Packed(Box<dyn Read + Send + 'a>),
}

impl Reader<'_> {
    /// Reads what there is, so that an answer need not wait for the next key; of compressed
    /// input as much as there is room for, since its pieces are small.
    fn read(&mut self, room: &mut [u8], progress: &Progress) -> io::Result<usize> {
        match self {
            Self::Plain(file) => {
                let count = retry(|| file.read(room))?;
                progress.advance(count as u64);
                Ok(count)
            }
            Self::Packed(decoder) => {
                let mut filled = 0;
                while filled < room.len() {
                    match retry(|| decoder.read(&mut room[filled..])).map_err(damaged)? {
                        0 => break,
                        count => filled += count,
                    }
                }
                Ok(filled)
            }
        }
    }
}

/// An interrupted read is no error.
fn retry(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

fn damaged(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => error,
        _ => io::Error::other(format!("its compressed data is damaged ({error}): fetch it again")),
    }
}

/// How an input is packed, by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Gzip,
    Zstd,
}

/// What packed data begin with. The last is zstd's too: a frame to skip.
const MAGICS: [(&[u8], Packing); 3] = [
    (&[0x1f, 0x8b, 0x08], Packing::Gzip),
    (&[0x28, 0xb5, 0x2f, 0xfd], Packing::Zstd),
    (&[0x50, 0x2a, 0x4d, 0x18], Packing::Zstd),
];

impl Packing {
    fn of(first: &[u8]) -> Option<Self> {
        MAGICS.iter().find(|(magic, _)| first.starts_with(magic)).map(|(_, packing)| *packing)
    }

    /// Whether more bytes might yet tell that it is packed.
    fn possible(first: &[u8]) -> bool {
        MAGICS.iter().any(|(magic, _)| magic.len() > first.len() && magic.starts_with(first))
    }
}

/// Opens an input. Of a plain one the first bytes have been read already.
fn open<'a>(path: &Path, plain: bool, progress: &'a Progress) -> io::Result<(Reader<'a>, Vec<u8>)> {
    let mut file: Box<dyn Read + Send> =
        if is_stdin(path) { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    let first = if plain { Vec::new() } else { first_bytes(&mut file)? };
    let Some(packing) = Packing::of(&first) else {
        return Ok((Reader::Plain(file), first));
    };
    let counted = Counted { reader: Cursor::new(first).chain(file), progress };
    let decoder: Box<dyn Read + Send + 'a> = match packing {
        Packing::Gzip => {
            Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(CHUNK, counted)))
        }
        Packing::Zstd => Box::new(zstd::stream::read::Decoder::new(counted)?),
    };
    Ok((Reader::Packed(decoder), Vec::new()))
}

/// As few bytes as tell whether the input is packed.
fn first_bytes(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    while Packing::possible(&first) {
        let mut byte = [0];
        if retry(|| file.read(&mut byte))? == 0 {
            break;
        }
        first.push(byte[0]);
    }
    Ok(first)
}

/// Tells of the packed bytes that were read, since only their number is known beforehand.
struct Counted<'a, R> {
    reader: R,
    progress: &'a Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(room)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_input_is_known_by_its_first_bytes() {
        assert_eq!(Packing::of(&[0x1f, 0x8b, 0x08, 0x00]), Some(Packing::Gzip));
        assert_eq!(Packing::of(&[0x28, 0xb5, 0x2f, 0xfd]), Some(Packing::Zstd));
        assert_eq!(Packing::of(b"(key"), None);
        assert!(Packing::possible(b"") && Packing::possible(b"(") && !Packing::possible(b"k"));
        // No byte more than needed is read: the rest may be long in coming.
        assert_eq!(first_bytes(&mut &b"key"[..]).expect("bytes"), b"k");
        assert_eq!(first_bytes(&mut &b"(key"[..]).expect("bytes"), b"(k");
    }
}
