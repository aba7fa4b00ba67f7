// "ribbonfilter/inline": queries, with the module in the script itself.

import { Engine } from "./src/engine.js";
import { classesOf } from "./src/structures.js";
import { decoded } from "./src/base64.js";
import text from "./src/ribbonfilter.wasm.js";

const engine = new Engine(() => decoded(text));

export const { Filter, Part, ExactSet, StaticFunction, init, keyHash } = classesOf(engine);
export * from "./src/public-errors.js";
