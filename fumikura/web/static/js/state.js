// @ts-check
import { useEffect, useRef, useState } from "./vendor.js";

/**
 * A value that components watch. `set` takes a patch, or a function from the present value to a patch.
 * @template {object} T
 * @param {T} initial
 */
export function createStore(initial) {
  let value = initial;
  const watchers = new Set();
  return {
    get: () => value,
    /** @param {Partial<T> | ((now: T) => Partial<T>)} patch */
    set(patch) {
      const change = /** @type {any} */ (typeof patch === "function" ? patch(value) : patch);
      if (Object.keys(change).every((key) => Object.is(change[key], value[key]))) return;
      value = /** @type {any} */ ({ .../** @type {any} */ (value), ...change });
      for (const watcher of [...watchers]) watcher(value);
    },
    /** @param {(value: T) => void} watcher @returns {() => void} ends the watch */
    subscribe(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

/** Hook: the selected part of a store; renders again only when that part changes (Object.is). */
export function useStore(store, selector = identity) {
  const selected = selector(store.get());
  const latest = useRef({ selector, selected });
  latest.current = { selector, selected };
  const [, renderAgain] = useState(0);
  useEffect(() => {
    const check = (value) => {
      if (!Object.is(latest.current.selector(value), latest.current.selected)) renderAgain((n) => n + 1);
    };
    check(store.get()); // it may have changed between the render and this effect
    return store.subscribe(check);
  }, [store]);
  return selected;
}

const identity = (value) => value;

/** The store's value as soon as it passes `test`. */
export function firstValue(store, test) {
  if (test(store.get())) return Promise.resolve(store.get());
  return new Promise((resolve) => {
    const end = store.subscribe((value) => {
      if (!test(value)) return;
      end();
      resolve(value);
    });
  });
}

/**
 * What all panels share. `notebook` is {id, name, source_count, chunk_count} or null while it loads;
 * `online` is false while the server cannot be reached; `tab` is the panel shown on narrow screens;
 * `panels` is the module panels.js, or null until it is there.
 */
export const app = createStore({
  online: true,
  notebook: /** @type {any} */ (null),
  notebooks: /** @type {any[]} */ ([]),
  tab: "chat",
  panels: /** @type {any} */ (null),
});

/** Read what was remembered (null when there is nothing, or the browser keeps nothing); "sessionStorage": in this tab alone. */
export function remembered(key, storage = "localStorage") {
  try {
    return globalThis[storage].getItem(`fumikura.${key}`);
  } catch {
    return null; // storage switched off: the page works, it only forgets
  }
}

/** Remember a text for this browser, or for this tab alone. */
export function remember(key, value, storage = "localStorage") {
  try {
    globalThis[storage].setItem(`fumikura.${key}`, value);
  } catch {
    // storage full or switched off: see remembered()
  }
}
