// SPDX-License-Identifier: Apache-2.0
/**
 * readKubeconfigFile reads one kubeconfig and returns its fields and a KubeConfig. KubeConfig keeps only the fields that it
 * uses, so complete-user.ts reads other fields from the file.
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
  // As text again, so that only one parser interprets the file. An incomplete entry matters only if it is used.
  config.loadFromString(JSON.stringify(fields), { onInvalidEntry: "filter" });
  const directory = dirname(path);
  config.makePathsAbsolute(directory);
  return { path, directory, fields, config };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw badConfig([path], `cannot read the file: ${isRecord(cause) ? String(cause["code"]) : "failed"}`, cause);
  }
}

function parseFields(path: string, text: string): Readonly<Record<string, unknown>> {
  let fields: unknown;
  try {
    fields = JSON.parse(JSON.stringify(parse(text, { logLevel: "error" }))); // warnings would quote the file on stderr
  } catch (error) {
    throw badConfig([path], `the file is not valid YAML${placeOf(error)}`);
  }
  if (!isRecord(fields)) throw badConfig([path], "the file is not a kubeconfig: it must be a YAML mapping");
  return fields;
}

function placeOf(error: unknown): string {
  const places = isRecord(error) ? error["linePos"] : undefined;
  const place: unknown = Array.isArray(places) ? places[0] : undefined;
  return isRecord(place) ? ` at line ${String(place["line"])}, column ${String(place["col"])}` : "";
}
