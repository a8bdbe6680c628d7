/** The service behind the page: requests, streams of drawings, and whether it is there. */

/** @import { Drawn } from "./types.js" */

/** What the service refused, in its own words; `status` 0: it was not reached. */
export class ServiceError extends Error {
  /** @param {string} message @param {number} status */
  constructor(message, status) {
    super(message);
    this.status = status;
  }

  /** Whether it may work in a moment. */
  get isPassing() {
    return this.status === 0 || this.status === 503;
  }
}

/**
 * @param {string} path
 * @param {object} [body] sent as JSON; without one, the request is a GET
 * @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
async function ask(path, body, signal) {
  /** @type {RequestInit} */
  const request = { signal };
  if (body) {
    request.method = "POST";
    request.headers = { "Content-Type": "application/json" };
    request.body = JSON.stringify(body);
  }
  /** @type {Response} */
  let response;
  try {
    response = await fetch(`/api/${path}`, request);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ServiceError("the studio does not answer: is it still running?", 0);
  }
  if (response.ok) return response;
  const { error = `the studio answered ${response.status}` } = await response.json().catch(() => ({}));
  throw new ServiceError(error, response.status);
}

/** @param {unknown} error whether the page itself has given the request up */
export const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";

/**
 * @param {string} path
 * @param {object} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function call(path, body, signal) {
  return (await ask(path, body, signal)).json();
}

/**
 * Drawings, each as soon as it is there.
 * @param {string} path
 * @param {object} body
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<Drawn>}
 */
export async function* drawings(path, body, signal) {
  const response = await ask(path, body, signal);
  for await (const line of lines(response)) {
    const value = JSON.parse(line);
    if (value.error) throw new ServiceError(value.error, 422);
    if (value.done) return;
    yield value;
  }
}

/** @param {Response} response @returns {AsyncGenerator<string>} */
async function* lines(response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (reader) {
    const { value, done } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop() ?? "";
    yield* parts.filter(Boolean);
  }
}

/**
 * @typedef {{status: "loading" | "ready" | "failed" | "lost", error: string, gallery_error: string, boot: string, model: string,
 *   temperature: number | null, gallery: {name: string, drawings: number, encoded: number} | null}} Health
 */

const INTERVAL = 700; // ms between two looks while something is awaited
const SETTLED_INTERVAL = 5000; // and while nothing is

/**
 * Look after the service for ever: fires "change" with `health` when it is ready, gone, or there again.
 */
export class Watch extends EventTarget {
  /** @type {Health} */
  health = { status: "loading", error: "", gallery_error: "", boot: "", model: "", temperature: null, gallery: null };
  #timer = 0;

  get isReady() {
    return this.health.status === "ready";
  }

  /** Whether Find and Guess have an answer: drawings to compare with, or the reason why there are none. */
  get hasGallery() {
    return this.isReady && Boolean(this.health.gallery?.encoded || this.health.gallery_error);
  }

  /** Look now, and again and again. */
  async look() {
    clearTimeout(this.#timer);
    const before = JSON.stringify(this.health);
    try {
      this.health = await call("health");
    } catch {
      this.health = { ...this.health, status: "lost" };
    }
    if (JSON.stringify(this.health) !== before) this.dispatchEvent(new Event("change"));
    const { status, gallery } = this.health;
    const settled = status === "ready" && gallery !== null && gallery.encoded === gallery.drawings;
    this.#timer = setTimeout(() => this.look(), settled ? SETTLED_INTERVAL : INTERVAL);
  }
}
