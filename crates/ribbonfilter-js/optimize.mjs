// Optimises a module for size: `node optimize.mjs from.wasm to.wasm to.wasm.js`.
//
// What only formats the messages of panics is emptied first, and with the argument `--no-text` all that
// formats text. A panic traps in any case, and its message has no reader, but a standard library that is
// compiled already brings that code along. The module must have its names, which are removed in the end.
// Then `wasm-opt` does the rest, and the result is also written as a script with the bytes in base 64.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import binaryen from "binaryen";

/** Functions that never return, of Rust's `core` and `alloc`, in their mangled names. */
const NEVER_RETURN = [
  /4core9panicking/,
  /4core6option(13expect_failed|13unwrap_failed)/,
  /4core6result13unwrap_failed/,
  /4core5slice5index.*_fail/,
  /4core3str(16|19)slice_error_fail/,
  /4core4cell\d+panic_already/,
  /5alloc7raw_vec(12handle_error|17capacity_overflow)/,
  /5alloc5alloc18handle_alloc_error/,
  /rust_begin_unwind|rust_panic/,
];

const FORMATTING = [/4core3fmt/, /4core7unicode/, /3str.*(Debug|Display)/];

/** The features that Rust's wasm32 target uses, and every engine of the last years has. */
const FEATURES = ["bulk-memory", "nontrapping-float-to-int", "sign-ext", "mutable-globals", "multivalue", "reference-types", "simd"];

function withoutMessages(bytes, emptied) {
  const module = binaryen.readBinary(bytes);
  for (let index = 0; index < module.getNumFunctions(); index++) {
    const func = module.getFunctionByIndex(index);
    const { name, base } = binaryen.getFunctionInfo(func);
    if (base === "" && emptied.some((pattern) => pattern.test(name))) {
      binaryen.Function.setBody(func, module.unreachable());
    }
  }
  return module.emitBinary();
}

const [from, to, script, ...options] = process.argv.slice(2);
const emptied = options.includes("--no-text") ? [...NEVER_RETURN, ...FORMATTING] : NEVER_RETURN;
writeFileSync(to, withoutMessages(readFileSync(from), emptied));
const tools = dirname(createRequire(import.meta.url).resolve("binaryen/package.json"));
execFileSync(process.execPath, [
  join(tools, "bin/wasm-opt"),
  "-Oz",
  // Inlining larger functions into their only caller saves bytes, but more bytes after compression are lost.
  "--one-caller-inline-max-function-size=50",
  // Until a round changes nothing: the second saves some bytes more.
  "--converge",
  // The first kilobyte is the end of the stack, which grows downwards: nothing else is there, and no address
  // computation wraps around to it. So constants can move into the offsets of loads and stores.
  "--low-memory-unused",
  ...FEATURES.map((feature) => `--enable-${feature}`),
  "--strip-debug",
  "--strip-producers",
  "--strip-target-features",
  to,
  "-o",
  to,
]);
const bytes = readFileSync(to);
writeFileSync(script, `export default "${bytes.toString("base64")}";\n`);
console.log(`${to}: ${bytes.length} bytes`);
