// "ribbonfilter/build/inline": queries and building, with the module in the script itself.

import { Engine } from "./src/engine.js";
import { buildingClassesOf } from "./src/builders.js";
import { decoded } from "./src/base64.js";
import text from "./src/ribbonfilter-build.wasm.js";

const engine = new Engine(() => decoded(text));

export const { Filter, Part, ExactSet, StaticFunction, init, keyHash } = buildingClassesOf(engine);
export { FilterBuilder } from "./src/builders.js";
export * from "./src/public-errors.js";
