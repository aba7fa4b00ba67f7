// "ribbonfilter": queries, with a module of its own.

import { Engine } from "./src/engine.js";
import { classesOf } from "./src/structures.js";

const engine = new Engine(() => new URL("./ribbonfilter.wasm", import.meta.url));

export const { Filter, Part, ExactSet, StaticFunction, init, keyHash } = classesOf(engine);
export * from "./src/public-errors.js";
