// @ts-check

/**
 * True while Enter only confirms a kana conversion. Safari ends the composition before it sends
 * the key, but still marks that key with 229.
 */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

/** True for the Enter that means "do it": no conversion, no Shift. */
export const isSubmit = (event) => event.key === "Enter" && !event.shiftKey && !isComposing(event);
