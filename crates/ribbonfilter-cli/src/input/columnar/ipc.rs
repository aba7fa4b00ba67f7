//! The record batches of Arrow IPC streams and files.
//!
//! The readers of `arrow-ipc` allocate any length that the input contains, and the process aborts if
//! there is not that much memory. So messages are read here, and only decoded there: memory is
//! allocated for the bytes that the input has. Compressed buffers are checked before they are
//! decompressed.
//!
//! A message is the length of its metadata, the metadata (a flatbuffer) and a body. The first message
//! of a stream is its schema. An end marker follows the last one, but may be missing. A file is a
//! stream between two magic numbers, with a footer that locates the messages.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_footer_length, read_record_batch};
use arrow_ipc::{Block, Message, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

/// The first and last bytes of a file.
pub const MAGIC: &[u8] = b"ARROW1";
/// The size of the magic number at the beginning of a file, with its padding.
const FILE_START: u64 = 8;
/// The size of the footer's length and the magic number at the end of a file.
const FILE_END: usize = 10;
/// Precedes the length of the metadata, except in streams of old writers.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The maximum number of bytes between the last message of a file and its footer: the end marker has
/// 8, and alignment may add some.
const MAX_GAP: u64 = 128;
/// Memory that is allocated before any byte has been read.
const INITIAL: u64 = 1 << 20;

type Result<T> = std::result::Result<T, ArrowError>;

fn failed(what: impl Into<String>) -> ArrowError {
    ArrowError::IpcError(what.into())
}

/// What the messages of a stream have in common.
#[derive(Default)]
struct Decoder {
    /// `None` before a stream.
    schema: Option<SchemaRef>,
    dictionaries: HashMap<i64, ArrayRef>,
}

impl Decoder {
    /// A schema begins a stream.
    fn new(schema: arrow_ipc::Schema<'_>) -> Result<Self> {
        if !schema.endianness().equals_to_target_endianness() {
            return Err(failed("its byte order is not that of this machine"));
        }
        Ok(Self { schema: Some(Arc::new(fb_to_schema(schema))), dictionaries: HashMap::new() })
    }

    /// Decodes a message. The result is `None` unless it is a record batch.
    fn decode(&mut self, message: Message<'_>, body: Vec<u8>) -> Result<Option<RecordBatch>> {
        let version = message.version();
        if let Some(schema) = message.header_as_schema() {
            *self = Self::new(schema)?;
            return Ok(None);
        }
        let schema = self.schema.clone().ok_or_else(|| failed("the schema is missing"))?;
        if let Some(batch) = message.header_as_record_batch() {
            check_memory(batch, &body)?;
            let (body, dictionaries) = (Buffer::from(body), &self.dictionaries);
            return read_record_batch(&body, batch, schema, dictionaries, None, &version).map(Some);
        }
        if let Some(dictionary) = message.header_as_dictionary_batch() {
            let batch = dictionary.data().ok_or_else(|| failed("a dictionary is empty"))?;
            check_memory(batch, &body)?;
            let (body, dictionaries) = (Buffer::from(body), &mut self.dictionaries);
            read_dictionary(&body, dictionary, &schema, dictionaries, &version)?;
            return Ok(None);
        }
        match message.header_type() {
            MessageHeader::NONE => Ok(None),
            other => Err(failed(format!("a message has the type {other:?}"))),
        }
    }
}

/// Fails if there is not enough memory for the decompressed buffers of a batch.
fn check_memory(batch: arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<()> {
    if batch.compression().is_none() {
        return Ok(());
    }
    let mut total = 0_usize;
    for buffer in batch.buffers().into_iter().flatten().filter(|buffer| buffer.length() > 0) {
        let start = usize::try_from(buffer.offset()).ok();
        let length = start.and_then(|start| body.get(start..)?.first_chunk());
        // -1 means that the buffer is not compressed.
        let length = length.and_then(|bytes| usize::try_from(i64::from_le_bytes(*bytes)).ok());
        total = total.saturating_add(length.unwrap_or(0));
    }
    let mut memory = Vec::<u8>::new();
    let allocated = memory.try_reserve_exact(total);
    // The compiler may remove an allocation that is not used.
    std::hint::black_box(&mut memory);
    allocated.map_err(|_| failed(format!("a batch of {total} bytes does not fit into memory")))
}

fn parse(metadata: &[u8]) -> Result<Message<'_>> {
    root_as_message(metadata).map_err(|error| failed(format!("a message is corrupt: {error}")))
}

/// Reads `len` bytes. Allocates no more than twice what the input has.
fn read_bytes(reader: &mut impl Read, len: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len.min(INITIAL) as usize);
    let read = reader.take(len).read_to_end(&mut bytes)?;
    match read as u64 == len {
        true => Ok(bytes),
        false => Err(failed("it ends within a message")),
    }
}

/// The record batches of a stream, and of those that follow it in the same input.
pub struct Stream<R> {
    reader: R,
    decoder: Decoder,
    /// Whether there was any schema.
    has_schema: bool,
}

impl<R: Read> Stream<R> {
    pub fn new(reader: R) -> Self {
        Self { reader, decoder: Decoder::default(), has_schema: false }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(len) = self.metadata_len()? {
            if len == 0 {
                // The end marker. Another stream may follow, with a schema of its own.
                self.decoder = Decoder::default();
                continue;
            }
            let metadata = read_bytes(&mut self.reader, len)?;
            let message = parse(&metadata)?;
            let len = u64::try_from(message.bodyLength());
            let len = len.map_err(|_| failed("a message has a negative length"))?;
            let body = read_bytes(&mut self.reader, len)?;
            let batch = self.decoder.decode(message, body)?;
            self.has_schema = true;
            if batch.is_some() {
                return Ok(batch);
            }
        }
        match self.has_schema {
            true => Ok(None),
            false => Err(failed("it is empty")),
        }
    }

    /// The length of the next message's metadata, 0 for the end marker, or `None` at the end.
    fn metadata_len(&mut self) -> Result<Option<u64>> {
        let mut first = Vec::new();
        (&mut self.reader).take(4).read_to_end(&mut first)?;
        if first.is_empty() {
            return Ok(None);
        }
        if first == CONTINUATION {
            first = read_bytes(&mut self.reader, 4)?;
        }
        let len = first.try_into().map_err(|_| failed("it ends within a message"))?;
        let len = u64::try_from(i32::from_le_bytes(len));
        len.map(Some).map_err(|_| failed("a message has a negative length"))
    }
}

impl<R: Read> Iterator for Stream<R> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

/// The record batches of a file.
pub fn file<R: Read + Seek>(mut reader: R) -> Result<impl Iterator<Item = Result<RecordBatch>>> {
    let size = reader.seek(SeekFrom::End(0))?;
    let short = || failed("it ends within its footer");
    let end = size.checked_sub(FILE_END as u64).ok_or_else(short)?;
    reader.seek(SeekFrom::Start(end))?;
    let mut trailer = [0; FILE_END];
    reader.read_exact(&mut trailer)?;
    let len = read_footer_length(trailer)? as u64;
    let start = end.checked_sub(len).ok_or_else(short)?;
    reader.seek(SeekFrom::Start(start))?;
    let footer = read_bytes(&mut reader, len)?;
    let footer = root_as_footer(&footer)
        .map_err(|error| failed(format!("its footer is corrupt: {error}")))?;
    let schema = footer.schema().ok_or_else(|| failed("its footer has no schema"))?;
    let mut decoder = Decoder::new(schema)?;
    let dictionaries: Vec<Block> = footer.dictionaries().into_iter().flatten().copied().collect();
    let batches: Vec<Block> = footer.recordBatches().into_iter().flatten().copied().collect();
    let blocks = dictionaries.iter().chain(&batches);
    check_blocks(blocks, schema_end(&mut reader)?, start)?;
    for block in &dictionaries {
        read_block(&mut reader, block, &mut decoder)?;
    }
    let read = move |block| read_block(&mut reader, &block, &mut decoder).transpose();
    Ok(batches.into_iter().filter_map(read))
}

/// The end of the schema, which is the first message of a file.
fn schema_end(reader: &mut (impl Read + Seek)) -> Result<u64> {
    reader.seek(SeekFrom::Start(FILE_START))?;
    let mut len = [0; 4];
    reader.read_exact(&mut len)?;
    if len == CONTINUATION {
        reader.read_exact(&mut len)?;
    }
    Ok(reader.stream_position()? + u64::from(u32::from_le_bytes(len)))
}

/// Checks that the blocks lie before the footer. The last must end there: if files were concatenated,
/// the footer is that of the last, but its offsets would locate messages of the first.
fn check_blocks<'a>(
    blocks: impl Iterator<Item = &'a Block>,
    schema_end: u64,
    footer: u64,
) -> Result<()> {
    let mut last = schema_end;
    for block in blocks {
        let fields = [block.offset(), block.metaDataLength().into(), block.bodyLength()];
        let end = fields.into_iter().try_fold(0_u64, |sum, field| {
            sum.checked_add(u64::try_from(field).ok()?).filter(|&end| end <= footer)
        });
        last = last.max(end.ok_or_else(|| failed("a block is not within the file"))?);
    }
    match footer.checked_sub(last) {
        Some(0..=MAX_GAP) => Ok(()),
        _ => Err(failed("its footer does not follow its last block: were files concatenated?")),
    }
}

fn read_block(
    reader: &mut (impl Read + Seek),
    block: &Block,
    decoder: &mut Decoder,
) -> Result<Option<RecordBatch>> {
    let length = |len: i64| u64::try_from(len).map_err(|_| failed("a block has a negative length"));
    reader.seek(SeekFrom::Start(length(block.offset())?))?;
    let metadata = read_bytes(reader, length(block.metaDataLength().into())?)?;
    let body = read_bytes(reader, length(block.bodyLength())?)?;
    let prefix = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
    let metadata = metadata.get(prefix..).ok_or_else(|| failed("a block is too short"))?;
    decoder.decode(parse(metadata)?, body)
}
