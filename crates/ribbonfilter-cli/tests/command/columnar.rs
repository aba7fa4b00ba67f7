//! Parquet and Arrow files: every type of column gives the filter of its keys, and what cannot be
//! read is said in one line.

use crate::support::{Folder, command_in, feed};
use arrow_array::builder::{StringDictionaryBuilder, StringRunBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use ribbonfilter::Filter;
use std::io::Write;
use std::sync::Arc;

const KEYS: i64 = 10_000;

fn texts() -> Vec<String> {
    (0..KEYS).map(|number| format!("key number {number}")).collect()
}

fn numbers() -> Vec<i64> {
    (0..KEYS).map(|number| number * 7919 - 5000).collect()
}

/// A batch with the keys in its second column.
fn batch(keys: ArrayRef) -> RecordBatch {
    let first = Arc::new(Float64Array::from(vec![0.5; keys.len()])) as ArrayRef;
    let fields = vec![
        Field::new("weight", first.data_type().clone(), false),
        Field::new("key", keys.data_type().clone(), true),
    ];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![first, keys]).expect("a batch")
}

/// A Parquet file with row groups of 3,000 rows.
fn parquet(batch: &RecordBatch, compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(3000))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties));
    let writer = writer.as_mut().expect("a writer");
    writer.write(batch).expect("written");
    writer.finish().expect("finished");
    writer.inner().clone()
}

/// The same batch twice, as a file and as a stream.
fn arrow(batch: &RecordBatch) -> [Vec<u8>; 2] {
    let mut file = FileWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    for _ in 0..2 {
        file.write(batch).expect("written");
        stream.write(batch).expect("written");
    }
    let written = |bytes: Result<Vec<u8>, ArrowError>| bytes.expect("finished");
    [written(file.into_inner()), written(stream.into_inner())]
}

fn built(folder: &Folder, arguments: &str) -> Vec<u8> {
    folder.good(&format!("build --force -o out.ribbon --column key {arguments}"));
    folder.read("out.ribbon")
}

fn texts_as<'a, A: FromIterator<Option<&'a str>> + Array + 'static>(
    texts: &'a [String],
) -> ArrayRef {
    Arc::new(texts.iter().map(|text| Some(text.as_str())).collect::<A>())
}

#[test]
fn every_type_of_column_gives_the_filter_of_its_keys() {
    let (folder, texts, numbers) = (Folder::new(), texts(), numbers());
    let bytes: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let expected_texts = Filter::build(&texts, 0.01).expect("a filter").as_bytes().to_vec();
    let expected_numbers =
        Filter::build(numbers.iter().copied(), 0.01).expect("a filter").as_bytes().to_vec();
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    texts.iter().chain(&texts).for_each(|text| dictionary.append_value(text));
    let narrow = |number: &i64| i32::try_from(*number).expect("small");
    let columns: Vec<(&str, ArrayRef, &Vec<u8>)> = vec![
        ("Utf8", texts_as::<StringArray>(&texts), &expected_texts),
        ("LargeUtf8", texts_as::<LargeStringArray>(&texts), &expected_texts),
        ("Utf8View", texts_as::<StringViewArray>(&texts), &expected_texts),
        ("Binary", Arc::new(BinaryArray::from(bytes.clone())), &expected_texts),
        ("LargeBinary", Arc::new(LargeBinaryArray::from(bytes.clone())), &expected_texts),
        ("BinaryView", Arc::new(BinaryViewArray::from_iter_values(&bytes)), &expected_texts),
        ("dictionary", Arc::new(dictionary.finish()), &expected_texts),
        ("Int64", Arc::new(Int64Array::from(numbers.clone())), &expected_numbers),
        (
            "Int32",
            Arc::new(Int32Array::from_iter_values(numbers.iter().map(narrow))),
            &expected_numbers,
        ),
    ];
    for (name, keys, expected) in columns {
        let batch = batch(keys);
        folder.write("keys.parquet", parquet(&batch, Compression::UNCOMPRESSED));
        let [file, stream] = arrow(&batch);
        folder.write("file.arrow", file);
        folder.write("stream.arrow", &stream);
        for threads in [1, 3] {
            let arguments = format!("--input parquet keys.parquet --threads {threads}");
            assert!(built(&folder, &arguments) == *expected, "{name}");
        }
        assert!(built(&folder, "--input arrow file.arrow") == *expected, "{name}");
        assert!(built(&folder, "--input arrow stream.arrow file.arrow") == *expected, "{name}");
        let ran = folder.run_with("build -f -o out.ribbon --column key --input arrow", &stream);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        assert!(folder.read("out.ribbon") == *expected, "{name}");
    }
}

#[test]
fn digests_and_small_integers() {
    let folder = Folder::new();
    let digests: Vec<[u8; 20]> =
        (0..1000u32).map(|n| std::array::from_fn(|at| (n >> at) as u8)).collect();
    let array = FixedSizeBinaryArray::try_from_iter(digests.iter()).expect("an array");
    folder.write("digests", parquet(&batch(Arc::new(array)), Compression::SNAPPY));
    let expected = Filter::build(&digests, 0.01).expect("a filter").as_bytes().to_vec();
    assert!(built(&folder, "--input parquet digests") == expected);
    let expected = Filter::build(0..100u64, 0.01).expect("a filter").as_bytes().to_vec();
    let columns: [ArrayRef; 7] = [
        Arc::new(Int8Array::from_iter_values(0..100)),
        Arc::new(Int16Array::from_iter_values(0..100)),
        Arc::new(Int32Array::from_iter_values(0..100)),
        Arc::new(UInt8Array::from_iter_values(0..100)),
        Arc::new(UInt16Array::from_iter_values(0..100)),
        Arc::new(UInt32Array::from_iter_values(0..100)),
        Arc::new(UInt64Array::from_iter_values(0..100)),
    ];
    for column in columns {
        folder.write("integers", parquet(&batch(column), Compression::UNCOMPRESSED));
        assert!(built(&folder, "--input parquet integers") == expected);
    }
}

#[test]
fn compression_and_several_files() {
    let (folder, texts) = (Folder::new(), texts());
    let expected = Filter::build(&texts, 0.01).expect("a filter").as_bytes().to_vec();
    let compressions = [
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ];
    for compression in compressions {
        let (one, other) = texts.split_at(4000);
        folder.write("one", parquet(&batch(texts_as::<StringArray>(one)), compression));
        folder.write("other", parquet(&batch(texts_as::<StringArray>(other)), compression));
        assert!(built(&folder, "--input parquet one other") == expected, "{compression}");
    }
}

#[test]
fn nulls_are_refused_or_skipped() {
    let folder = Folder::new();
    let with_nulls = StringArray::from(vec![Some("ada"), None, Some("grace"), None]);
    let mut dictionary = StringDictionaryBuilder::<Int8Type>::new();
    dictionary.extend([Some("ada"), None, Some("grace"), None]);
    let nothing = NullArray::new(2);
    let expected = Filter::build(["ada", "grace"], 0.01).expect("a filter").as_bytes().to_vec();
    for column in [Arc::new(with_nulls) as ArrayRef, Arc::new(dictionary.finish())] {
        folder.write("nulls.parquet", parquet(&batch(column.clone()), Compression::UNCOMPRESSED));
        folder.write("nulls.arrow", &arrow(&batch(column))[0]);
        for input in ["parquet nulls.parquet", "arrow nulls.arrow"] {
            let arguments = format!("build -f -o out --column key --input {input}");
            folder.run(&arguments).fails_with("has nulls, which cannot be keys");
            let output = folder.good(&format!("{arguments} --nulls skip"));
            let skipped = if input.starts_with("parquet") { 2 } else { 4 };
            assert!(output.starts_with(&format!("{skipped} nulls skipped\n")), "{output}");
            assert!(folder.read("out") == expected);
        }
    }
    folder.write("nothing", &arrow(&batch(Arc::new(nothing)))[0]);
    let ran = folder.run("build -o new --column key --input arrow nothing --nulls skip");
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("contains no keys"), "{ran:?}");
}

#[test]
fn what_is_wrong_is_said() {
    let folder = Folder::new();
    let texts = texts();
    folder.write("keys", parquet(&batch(texts_as::<StringArray>(&texts)), Compression::SNAPPY));
    folder.write("keys.arrow", &arrow(&batch(texts_as::<StringArray>(&texts)))[0]);
    folder.write("lines", "ada\ngrace\n");
    let mut runs = StringRunBuilder::<Int32Type>::new();
    runs.extend([Some("ada"), Some("ada")]);
    folder.write("runs", &arrow(&batch(Arc::new(runs.finish())))[0]);
    let columns = "its columns are weight (Float64), key (Utf8)";
    for (arguments, message) in [
        ("keys --input parquet", columns),
        ("keys --input parquet --column Key", columns),
        ("keys.arrow --input arrow --column 2", columns),
        ("keys --input parquet --column weight", "has type Float64"),
        ("runs --input arrow --column key", "has type RunEndEncoded"),
        ("lines --input parquet --column key", "cannot be read as Parquet"),
        ("lines --input arrow --column key", "cannot be read as Arrow"),
        ("keys --input arrow --column key", "cannot be read as Arrow"),
        ("missing --input parquet --column key", "no such file"),
        ("- --input parquet --column key", "standard input"),
        ("keys --input parquet --column key --null", "are for lines"),
        ("lines --nulls skip", "--nulls is for"),
        ("lines --column key", "number of a field"),
        ("lines --column 0", "number of a field"),
    ] {
        folder.run(&format!("build -o out {arguments}")).fails_with(message);
    }
    folder.good("build -o out lines");
    let query = "query out --keys keys --input parquet --column key";
    folder.run(query).fails_with("is for `ribbon build`");
}

/// The dictionaries of the row groups of a Parquet file may have more values than the indices of its
/// Arrow schema can count.
#[test]
fn dictionaries_of_parquet_files() {
    let (folder, texts) = (Folder::new(), texts());
    let chunk = |texts: &[String]| {
        let mut dictionary = StringDictionaryBuilder::<Int8Type>::new();
        texts.iter().for_each(|text| dictionary.append_value(text));
        batch(Arc::new(dictionary.finish()))
    };
    let chunks: Vec<_> = texts[..1000].chunks(100).map(chunk).collect();
    let mut writer = ArrowWriter::try_new(Vec::new(), chunks[0].schema(), None).expect("a writer");
    chunks.iter().for_each(|chunk| writer.write(chunk).expect("written"));
    folder.write("texts", writer.into_inner().expect("finished"));
    let expected = Filter::build(&texts[..1000], 0.01).expect("a filter").as_bytes().to_vec();
    assert!(built(&folder, "--input parquet texts") == expected);

    // Files of pyarrow.
    let digests: Vec<[u8; 20]> = (0..20).map(|n| [n; 20]).collect();
    folder.write("digests", include_bytes!("../data/dictionary-of-digests.parquet"));
    let expected = Filter::build(&digests, 0.01).expect("a filter").as_bytes().to_vec();
    assert!(built(&folder, "--input parquet digests") == expected);
    folder.write("booleans", include_bytes!("../data/dictionary-of-booleans.parquet"));
    let arguments = "build -f -o out --column key --input parquet";
    folder.run(&format!("{arguments} booleans")).fails_with("has type Boolean, but");

    // The Rust writer puts a length before each value of this type, which other readers misread.
    let values = FixedSizeBinaryArray::try_from_iter(digests.iter()).expect("an array");
    let keys = Int32Array::from_iter_values(0..20);
    let dictionary = DictionaryArray::<Int32Type>::new(keys, Arc::new(values));
    folder.write("wrong", parquet(&batch(Arc::new(dictionary)), Compression::UNCOMPRESSED));
    folder.run(&format!("{arguments} wrong")).fails_with("write it again without the dictionary");
}

/// `cat one two` of streams has the keys of both, also if the first has no end marker.
#[test]
fn concatenated_streams() {
    let (folder, texts) = (Folder::new(), texts());
    let (one, other) = texts.split_at(4000);
    let [_, one] = arrow(&batch(texts_as::<StringArray>(one)));
    // The dictionaries of a stream end with it.
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    other.iter().chain(other).for_each(|text| dictionary.append_value(text));
    let [_, other] = arrow(&batch(Arc::new(dictionary.finish())));
    let expected = Filter::build(&texts, 0.01).expect("a filter").as_bytes().to_vec();
    for (end, rest) in [(one.len(), other.len()), (one.len() - 8, other.len() - 8)] {
        let both = [&one[..end], &other[..rest]].concat();
        folder.write("both", &both);
        assert!(built(&folder, "--input arrow both") == expected);
        let ran = folder.run_with("build -f -o out.ribbon --column key --input arrow -", &both);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        assert!(folder.read("out.ribbon") == expected);
    }
    let arguments = "build -f -o out --column key --input arrow";
    for garbage in [&b"x"[..], b"more than a few bytes", &arrow_file_of_one_key()] {
        let bytes = [&one, garbage].concat();
        folder.run_with(arguments, &bytes).fails_with("cannot be read as Arrow");
    }
    // Batches need the schema of their own stream.
    let len: [u8; 4] = one[4..8].try_into().expect("four bytes");
    let after_schema = 8 + u32::from_le_bytes(len) as usize;
    let batches = [&one[..], &one[after_schema..]].concat();
    folder.run_with(arguments, &batches).fails_with("the schema is missing");
}

fn arrow_file_of_one_key() -> Vec<u8> {
    arrow(&batch(Arc::new(StringArray::from(vec!["ada"]))))[0].clone()
}

/// The footer of the second file has the offsets of its blocks in that file.
#[test]
fn concatenated_files_are_errors() {
    let folder = Folder::new();
    let file = arrow_file_of_one_key();
    folder.write("both", [&file[..], &file].concat());
    let arguments = "build -o out --column key --input arrow both";
    folder.run(arguments).fails_with("were files concatenated?");
    let keys = batch(Arc::new(StringArray::from(vec!["ada"])));
    let file = parquet(&keys, Compression::UNCOMPRESSED);
    folder.write("both", [&file[..], &file].concat());
    let arguments = "build -o out --column key --input parquet both";
    folder.run(arguments).fails_with("several Parquet files");
}

#[cfg(unix)]
#[test]
fn streams_are_read_from_fifos() {
    let (folder, texts) = (Folder::new(), texts());
    let expected = Filter::build(&texts, 0.01).expect("a filter").as_bytes().to_vec();
    let [file, stream] = arrow(&batch(texts_as::<StringArray>(&texts)));
    let fifo = folder.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs");
    assert!(made.success());
    std::thread::scope(|scope| {
        scope.spawn(|| std::fs::write(&fifo, &stream).expect("written"));
        assert!(built(&folder, "--input arrow fifo") == expected);
    });
    std::thread::scope(|scope| {
        // The command ends without reading all of it.
        scope.spawn(|| drop(std::fs::write(&fifo, &file)));
        let ran = folder.run("build -o out --column key --input arrow fifo");
        ran.fails_with("name the file");
    });
    folder.run("build -o out --column key --input parquet fifo").fails_with("name the file");
}

#[test]
fn what_cannot_be_read_in_sequence_or_compressed() {
    let folder = Folder::new();
    let file = arrow_file_of_one_key();
    let arguments = "build -o out --column key --input arrow";
    folder.run_with(arguments, &file).fails_with("name the file");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&file).expect("compressed");
    let zstd = zstd::encode_all(&file[..], 1).expect("compressed");
    for bytes in [gzip.finish().expect("compressed"), zstd] {
        folder.run_with(arguments, &bytes).fails_with("decompress it first");
        folder.write("compressed", bytes);
        for input in ["arrow", "parquet"] {
            let arguments = format!("build -o out --column key --input {input} compressed");
            folder.run(&arguments).fails_with("decompress it first");
        }
    }
}

#[test]
fn a_file_named_standard_input() {
    let folder = Folder::new();
    folder.write("standard input", arrow_file_of_one_key());
    let arguments = ["build", "-o", "out", "--column", "key", "--input", "arrow", "standard input"];
    let ran = feed(&mut command_in(&folder.path("."), arguments), b"");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let expected = Filter::build(["ada"], 0.01).expect("a filter").as_bytes().to_vec();
    assert!(folder.read("out") == expected);
}

#[test]
fn columns_of_the_same_name() {
    let folder = Folder::new();
    let keys = Arc::new(StringArray::from(vec!["ada"])) as ArrayRef;
    let field = || Field::new("key", keys.data_type().clone(), true);
    let schema = Schema::new(vec![field(), field()]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![keys.clone(), keys.clone()]);
    let batch = batch.expect("a batch");
    let [file, stream] = arrow(&batch);
    folder.write("file.arrow", file);
    folder.write("stream.arrow", stream);
    folder.write("file.parquet", parquet(&batch, Compression::UNCOMPRESSED));
    for input in ["arrow file.arrow", "arrow stream.arrow", "parquet file.parquet"] {
        let ran = folder.run(&format!("build -o out --column key --input {input}"));
        ran.fails_with("several columns are named key");
    }
}

/// Keys of different kinds are never equal, so one of the files would be useless for queries.
#[test]
fn kinds_of_keys_are_not_mixed() {
    let folder = Folder::new();
    let columns: [(&str, ArrayRef); 4] = [
        ("texts", Arc::new(StringArray::from(vec!["ada"]))),
        ("bytes", Arc::new(BinaryArray::from(vec![&b"grace"[..]]))),
        ("integers", Arc::new(Int32Array::from(vec![7]))),
        ("narrow", Arc::new(UInt8Array::from(vec![8]))),
    ];
    for (name, keys) in columns {
        let batch = batch(keys);
        folder.write(&format!("{name}.parquet"), parquet(&batch, Compression::UNCOMPRESSED));
        folder.write(&format!("{name}.arrow"), &arrow(&batch)[1]);
    }
    for input in ["parquet", "arrow"] {
        let build = format!("build -f -o out --column key --input {input}");
        folder.good(&format!("{build} texts.{input} bytes.{input}"));
        folder.good(&format!("{build} integers.{input} narrow.{input}"));
        let ran = folder.run(&format!("{build} texts.{input} integers.{input}"));
        ran.fails_with(&format!("texts.{input}"));
        ran.fails_with(&format!("integers.{input}"));
    }
}

/// pyarrow wrote the file, since the Rust writer cannot write checksums.
#[test]
fn checksums_of_parquet_pages() {
    let folder = Folder::new();
    let bytes = include_bytes!("../data/page-checksums.parquet").to_vec();
    folder.write("good", &bytes);
    let expected = Filter::build(&texts()[..20], 0.01).expect("a filter").as_bytes().to_vec();
    assert!(built(&folder, "--input parquet good") == expected);
    let at = bytes.windows(12).position(|bytes| bytes == b"key number 7").expect("a key");
    let mut corrupt = bytes;
    corrupt[at] ^= 1;
    folder.write("corrupt", corrupt);
    folder.run("build -o out --column key --input parquet corrupt").fails_with("checksum");
}

/// No change of a byte makes the command panic.
#[test]
fn corrupt_files_are_errors() {
    let folder = Folder::new();
    let texts = texts();
    let few = batch(texts_as::<StringArray>(&texts[..50]));
    let [file, stream] = arrow(&few);
    let files = [
        ("parquet", parquet(&few, Compression::SNAPPY)),
        ("arrow", file),
        ("arrow", stream),
        ("arrow", compressed(&few)),
    ];
    for (input, bytes) in files {
        for at in (0..bytes.len()).step_by(bytes.len() / 60) {
            let mut corrupt = bytes.clone();
            corrupt[at] ^= 0xff;
            builds_or_fails(&folder, input, &corrupt);
            builds_or_fails(&folder, input, &bytes[..at]);
        }
    }
}

/// No length makes the command allocate more memory than there is, at any offset at which a length
/// can be.
#[test]
fn absurd_lengths_are_errors() {
    let folder = Folder::new();
    let mut dictionary = StringDictionaryBuilder::<Int8Type>::new();
    dictionary.extend([Some("ada"), Some("grace")]);
    let keys = Arc::new(dictionary.finish()) as ArrayRef;
    let schema = Schema::new(vec![Field::new("key", keys.data_type().clone(), true)]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![keys]).expect("a batch");
    let [file, stream] = arrow(&batch);
    for bytes in [file, stream, compressed(&batch)] {
        for at in (0..bytes.len() - 8).step_by(4) {
            for length in [1_i64 << 40, 1 << 62, i64::MIN, i64::from(i32::MAX)] {
                let mut corrupt = bytes.clone();
                corrupt[at..at + 8].copy_from_slice(&length.to_le_bytes());
                builds_or_fails(&folder, "arrow", &corrupt);
            }
        }
    }
}

fn compressed(batch: &RecordBatch) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME));
    let options = options.expect("options");
    let writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options);
    let mut writer = writer.expect("a writer");
    writer.write(batch).expect("written");
    writer.into_inner().expect("finished")
}

#[track_caller]
fn builds_or_fails(folder: &Folder, input: &str, bytes: &[u8]) {
    folder.write("corrupt", bytes);
    let ran = folder.run(&format!("build -f -o out --column key --input {input} corrupt"));
    assert!(ran.status == 2 || ran.stderr.is_empty(), "{ran:?}");
    let one_line = ran.stderr.find('\n').is_none_or(|end| end + 1 == ran.stderr.len());
    assert!(ran.stderr.is_empty() || ran.stderr.starts_with("ribbon: ") && one_line, "{ran:?}");
}
