// @ts-check
// The door to the vendored libraries that the page needs at once (versions, licences and checksums: ../vendor/README.md).
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

/** Tagged template that makes virtual nodes: html`<p>${text}</p>`. */
export const html = htm.bind(createElement);

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
