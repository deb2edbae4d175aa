// SPDX-License-Identifier: Apache-2.0
/**
 * validateMetadata validates an object's metadata as the API server does (k8s.io/apimachinery, pkg/api/validation).
 */
import { isJsonObject, textAt } from "../json.ts";
import { fieldProblem, type FieldProblem } from "./field-problem.ts";

/** `metadata` belongs to a namespaced custom object. */
export function validateMetadata(metadata: unknown): readonly FieldProblem[] {
  if (!isJsonObject(metadata)) return [nameRequired];
  return [
    ...nameProblems(metadata),
    ...labelProblems(metadata["labels"]),
    ...annotationProblems(metadata["annotations"]),
  ];
}

const nameRequired = fieldProblem("FieldValueRequired", "metadata.name", {
  detail: "name or generateName is required",
});

function nameProblems(metadata: unknown): readonly FieldProblem[] {
  const name = textAt(metadata, "name") ?? "";
  if (name === "") return textAt(metadata, "generateName") ? [] : [nameRequired];
  const problems: FieldProblem[] = [];
  const invalid = (detail: string): number =>
    problems.push(fieldProblem("FieldValueInvalid", "metadata.name", { value: name, detail }));
  if (name.length > 253) invalid("must be no more than 253 characters");
  if (!subdomain.test(name)) invalid(subdomainAdvice);
  return problems;
}

function labelProblems(labels: unknown): readonly FieldProblem[] {
  if (!isJsonObject(labels)) return [];
  return Object.entries(labels).flatMap(([key, value]) => {
    const problems = [...keyProblems(key, key, "metadata.labels")];
    if (typeof value !== "string") return problems;
    const invalid = (detail: string): number =>
      problems.push(fieldProblem("FieldValueInvalid", "metadata.labels", { value, detail }));
    if (value.length > 63) invalid("must be no more than 63 bytes");
    if (value !== "" && !qualifiedName.test(value)) invalid(labelAdvice);
    return problems;
  });
}

function annotationProblems(annotations: unknown): readonly FieldProblem[] {
  if (!isJsonObject(annotations)) return [];
  return Object.keys(annotations).flatMap((key) => keyProblems(key.toLowerCase(), key, "metadata.annotations"));
}

/** Checks the key of a label or annotation: "prefix/name" or "name". `shown` is the key for the message. */
function keyProblems(key: string, shown: string, field: string): readonly FieldProblem[] {
  const [prefix, name = "", ...more] = key.includes("/") ? key.split("/") : [undefined, key];
  const details: string[] = [];
  if (more.length > 0) details.push(keyAdvice);
  else {
    if (prefix === "") details.push("prefix part must be non-empty");
    else if (prefix !== undefined && !subdomain.test(prefix)) details.push(`prefix part ${subdomainAdvice}`);
    if (name === "") details.push("name part must be non-empty");
    if (name.length > 63) details.push("name part must be no more than 63 bytes");
    if (!qualifiedName.test(name)) details.push(`name part ${nameAdvice}`);
  }
  return details.map((detail) => fieldProblem("FieldValueInvalid", field, { value: shown, detail }));
}

const nameAdvice =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const keyAdvice = `a valid label key ${nameAdvice} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`;
const subdomainAdvice =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelAdvice =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
