/** The bytes of a text in base 64. */
export function decoded(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
