export { BuildError, FormatError, KeyError, MemoryError, RibbonError } from "./errors.js";
