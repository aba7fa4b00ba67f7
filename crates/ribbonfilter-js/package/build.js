// "ribbonfilter/build": queries and building.

import { Engine } from "./src/engine.js";
import { buildingClassesOf } from "./src/builders.js";

const engine = new Engine(() => new URL("./ribbonfilter-build.wasm", import.meta.url));

export const { Filter, Part, ExactSet, StaticFunction, init, keyHash } = buildingClassesOf(engine);
export { FilterBuilder } from "./src/builders.js";
export * from "./src/public-errors.js";
