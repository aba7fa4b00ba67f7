// Objects that own something in the memory of a module: structures and builders.

/** Frees what nobody refers to any longer and was not freed before. */
const registry = new FinalizationRegistry(({ engine, handle, free }) => engine.exports[free](handle));

/** Owns a handle of a module, which is freed once. */
export class Owner {
  #engine;
  #handle;

  /** The name of the module's function that frees the handle. */
  static FREE;

  constructor(engine, handle) {
    this.#engine = engine;
    this.#handle = handle;
    registry.register(this, { engine, handle, free: this.constructor.FREE }, this);
  }

  /** The engine, as long as there is a handle. */
  get _engine() {
    if (this.#handle === 0) {
      throw this._spent();
    }
    return this.#engine;
  }

  /** The handle. It must be read for every call of the module: callbacks may have freed it. */
  get _handle() {
    if (this.#handle === 0) {
      throw this._spent();
    }
    return this.#handle;
  }

  /** Gives the handle away. */
  _release() {
    const handle = this.#handle;
    registry.unregister(this);
    this.#handle = 0;
    return handle;
  }

  /** Frees the handle, if there is one. */
  _free() {
    if (this.#handle !== 0) {
      this.#engine.exports[this.constructor.FREE](this._release());
    }
  }
}
