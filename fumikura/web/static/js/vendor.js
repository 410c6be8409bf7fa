// @ts-check
// The one door to the vendored libraries (versions, licences and checksums: ../vendor/README.md).
import { Component, Fragment, createContext, createElement, render } from "../vendor/preact/preact.js";
import {
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from "../vendor/preact/hooks.js";
import htm from "../vendor/htm/htm.js";
import cjkFriendly from "../vendor/markdown-it-cjk-friendly/markdown-it-cjk-friendly.js";
// UMD files: as modules they can only set a global. (markdown-it as a module is 3 KB larger, compressed.)
import "../vendor/dompurify/purify.js";
import "../vendor/markdown-it/markdown-it.js";

/** Tagged template that makes virtual nodes: html`<p>${text}</p>`. */
export const html = htm.bind(createElement);

/** Sanitiser; use it after Markdown is rendered and on every render. */
export const DOMPurify = /** @type {any} */ (globalThis).DOMPurify;

/** Makes a Markdown parser: markdownIt({html: false}). */
export const markdownIt = /** @type {any} */ (globalThis).markdownit;

/** Keep a component from rendering again while its props are the same (shallow compare, or `same`). */
export function memo(component, same = shallowEqual) {
  return class Memo extends Component {
    shouldComponentUpdate(next) {
      return !same(this.props, next);
    }
    render() {
      return createElement(component, this.props);
    }
  };
}

function shallowEqual(left, right) {
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => Object.is(left[key], right[key]));
}

export {
  Component,
  Fragment,
  cjkFriendly,
  createContext,
  createElement,
  render,
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
};
