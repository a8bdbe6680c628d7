/** A small viewer of the OpenAPI document, with nothing from elsewhere. */

import { call } from "./api.js";
import { box, make } from "./dom.js";

/** @typedef {{title?: string, description?: string, type?: string, $ref?: string, default?: unknown, [more: string]: any}} Schema */

const document_ = await call("openapi.json");
const place = box("docs");

for (const [path, methods] of Object.entries(document_.paths)) {
  for (const [method, about] of Object.entries(/** @type {Record<string, any>} */ (methods))) {
    const section = make("section", { className: "endpoint" });
    section.append(make("h2", { text: `${method.toUpperCase()} ${path}` }), prose(about.description ?? ""));
    const body = about.requestBody?.content?.["application/json"]?.schema;
    if (body) section.append(fields(body));
    const parameters = about.parameters ?? [];
    if (parameters.length) section.append(make("p", { text: `Query: ${parameters.map((/** @type {any} */ one) => one.name).join(", ")}` }));
    section.append(make("p", { className: "hint", text: `Answers: ${Object.keys(about.responses).join(", ")}` }));
    place.append(section);
  }
}

/** A paragraph in which `names` are set as code. @param {string} text @returns {HTMLElement} */
function prose(text) {
  const parts = text.split("`").map((part, number) => (number % 2 ? make("code", { text: part }) : part));
  const paragraph = make("p");
  paragraph.append(...parts);
  return paragraph;
}

/** The fields of a request as a table. @param {Schema} schema @returns {HTMLElement} */
function fields(schema) {
  const { properties = {}, required = [] } = resolved(schema);
  const list = make("dl", { className: "keys" });
  for (const [name, value] of Object.entries(/** @type {Record<string, Schema>} */ (properties))) {
    const rule = required.includes(name) ? "required" : `default ${JSON.stringify(value.default ?? null)}`;
    const words = [typeOf(value), bounds(value), rule, value.description].filter(Boolean).join("; ");
    list.append(make("dt", {}, make("kbd", { text: name })), make("dd", { text: words }));
  }
  return list;
}

/** @param {Schema} schema @returns {Schema} */
function resolved(schema) {
  const name = schema.$ref?.split("/").at(-1);
  return name ? document_.components.schemas[name] : schema;
}

/** @param {Schema} schema @returns {string} */
function typeOf(schema) {
  if (schema.anyOf) return schema.anyOf.map(typeOf).filter((/** @type {string} */ name) => name !== "null").join(" or ");
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.$ref) return `{${Object.keys(resolved(schema).properties ?? {}).join(", ")}}`;
  if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(", ")}]`;
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  return schema.type ?? "any";
}

/** @param {Schema} schema @returns {string} */
function bounds(schema) {
  const own = schema.anyOf?.[0] ?? schema;
  return own.minimum !== undefined && own.maximum !== undefined ? `${own.minimum} to ${own.maximum}` : "";
}
