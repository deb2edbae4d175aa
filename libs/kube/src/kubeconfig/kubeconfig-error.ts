// SPDX-License-Identifier: Apache-2.0
/**
 * badConfig makes errors about kubeconfigs. They name the file and the entry and never quote the file, which has tokens
 * and keys. Messages of YAML and JSON parsers are not used, since they quote the text around a mistake.
 * Usage: `throw badConfig(["/home/me/.kube/config"], 'user "u" not found')`.
 */
import { KubeError } from "../http/kube-error.ts";
import { isRecord } from "../kube-object.ts";

/** Pass a `cause` only if its fields have no secret. */
export function badConfig(paths: readonly string[], words: string, cause?: unknown): KubeError {
  return new KubeError(`use kubeconfig ${paths.join(":")}`, "BadConfig", { words, cause });
}

/** Returns the message of an error of KubeConfig, its libraries or an exec plugin, without possible secrets. */
export function messageOf(error: unknown): string {
  if (!isRecord(error)) return "unknown error";
  const { name, message, cause } = error;
  if (name === "SyntaxError") return "the output is not JSON"; // the message of a SyntaxError quotes the output
  const reason = isRecord(cause) && typeof cause["code"] === "string" ? ` (${cause["code"]})` : "";
  return `${hideSecrets(String(message).trim()).slice(0, longestMessage)}${reason}`;
}

const longestMessage = 500;

/** Replaces JSON web tokens and other long base64 texts. Absolute paths look similar but begin with a slash. */
function hideSecrets(text: string): string {
  return text.replace(/eyJ[\w.-]+/g, "…").replace(/(?<![\w+/=.-])[\w+=-][\w+/=-]{39,}/g, "…");
}
