// SPDX-License-Identifier: Apache-2.0
/**
 * One kubeconfig: the file's fields, and KubeConfig made of them. KubeConfig keeps only the fields that it uses, so what
 * it lacks (complete-user.ts) is taken from the file.
 * Usage: `const { config, fields } = await readKubeconfigFile("/home/me/.kube/config")`.
 */
import { KubeConfig } from "@kubernetes/client-node";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parse } from "yaml";
import { isRecord } from "../kube-object.ts";
import { badConfig } from "./kubeconfig-error.ts";

export interface KubeconfigFile {
  readonly path: string;
  readonly directory: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly config: KubeConfig;
}

/** Rejects with KubeError "BadConfig". */
export async function readKubeconfigFile(path: string): Promise<KubeconfigFile> {
  const fields = parseFields(path, await readText(path));
  const config = new KubeConfig();
  // Again as text, so that one parser decides what the file says. An incomplete entry matters only where it is used.
  config.loadFromString(JSON.stringify(fields), { onInvalidEntry: "filter" });
  const directory = dirname(path);
  config.makePathsAbsolute(directory);
  return { path, directory, fields, config };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw badConfig([path], `it cannot be read: ${isRecord(cause) ? String(cause["code"]) : "failed"}`, cause);
  }
}

function parseFields(path: string, text: string): Readonly<Record<string, unknown>> {
  let fields: unknown;
  try {
    fields = JSON.parse(JSON.stringify(parse(text, { logLevel: "error" }))); // warnings quote the file on stderr
  } catch (error) {
    throw badConfig([path], `it is not valid YAML${placeOf(error)}`);
  }
  if (!isRecord(fields)) throw badConfig([path], "it is not a kubeconfig: the file must hold a mapping");
  return fields;
}

function placeOf(error: unknown): string {
  const places = isRecord(error) ? error["linePos"] : undefined;
  const place: unknown = Array.isArray(places) ? places[0] : undefined;
  return isRecord(place) ? ` at line ${String(place["line"])}, column ${String(place["col"])}` : "";
}
