// SPDX-License-Identifier: Apache-2.0
/**
 * readKubeconfigFile reads one kubeconfig and returns its fields and a KubeConfig. KubeConfig keeps only the fields that it
 * uses, so complete-user.ts reads other fields from the file.
 */
import { KubeConfig } from "@kubernetes/client-node";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord } from "../kube-object.ts";
import { badConfig, parseKubeconfigFields } from "./kubeconfig-fields.ts";

export interface KubeconfigFile {
  readonly path: string;
  readonly directory: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly config: KubeConfig;
}

/** Rejects with KubeError "BadConfig". */
export async function readKubeconfigFile(path: string): Promise<KubeconfigFile> {
  const fields = parseKubeconfigFields(path, await readText(path));
  const config = new KubeConfig();
  try {
    // As text again, so that only one parser interprets the file. An incomplete entry matters only if it is used.
    config.loadFromString(JSON.stringify(fields), { onInvalidEntry: "filter" });
  } catch {
    // Its error quotes the line of the problem, and this text is one line. It is not passed on, not even as a cause.
    throw badConfig([path], "the file is not a kubeconfig: its clusters, contexts or users cannot be read");
  }
  const directory = dirname(path);
  config.makePathsAbsolute(directory);
  return { path, directory, fields, config };
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist (ENOENT)",
  EACCES: "permission denied (EACCES)",
  EISDIR: "it is a directory (EISDIR)",
};

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const code = isRecord(cause) ? String(cause["code"]) : "failed";
    throw badConfig([path], `cannot read the file: ${reasons[code] ?? code}`, cause);
  }
}
