// SPDX-License-Identifier: Apache-2.0
/**
 * Errors about kubeconfigs. They name the file and the entry, and never quote the file: it holds tokens and keys, and so
 * do the messages of YAML and JSON parsers, which show the text around a mistake.
 * Usage: `throw badConfig(["/home/me/.kube/config"], 'there is no user "u"')`.
 */
import { KubeError } from "../http/kube-error.ts";
import { isRecord } from "../kube-object.ts";

/** `cause` is given only where its fields hold no secret. */
export function badConfig(paths: readonly string[], words: string, cause?: unknown): KubeError {
  return new KubeError(`use kubeconfig ${paths.join(":")}`, "BadConfig", { words, cause });
}

/** The message of an error of KubeConfig, of a library below it or of an exec plugin, without what may be a secret. */
export function messageOf(error: unknown): string {
  if (!isRecord(error)) return "unknown error";
  const { name, message, cause } = error;
  if (name === "SyntaxError") return "the answer is not JSON"; // its message quotes the answer
  const reason = isRecord(cause) && typeof cause["code"] === "string" ? ` (${cause["code"]})` : "";
  return `${hideSecrets(String(message).trim()).slice(0, longestMessage)}${reason}`;
}

const longestMessage = 500;

/** JSON web tokens, and other long runs of base64. Absolute paths, which look alike, begin with a slash. */
function hideSecrets(text: string): string {
  return text.replace(/eyJ[\w.-]+/g, "…").replace(/(?<![\w+/=.-])[\w+=-][\w+/=-]{39,}/g, "…");
}
