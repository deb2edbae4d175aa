// SPDX-License-Identifier: Apache-2.0
/**
 * The inputs that fuzz runs have found: a small part in e2e/fuzz/corpus, which each test run replays, and the grown one in the user's
 * cache. A file has the bytes of one input, and its name is the beginning of their SHA-256, after "finding-" if it once was a finding.
 */
import { findWorkspaceRoot } from "@switchyard/testing/workspace-root";
import { cachePath } from "@switchyard/testing/user-cache";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Most inputs of a target in the repository, and the longest one. */
const mostKept = 20;
const mostBytes = 4_096;

const finding = "finding-";

/** Folder of a target's inputs in the repository. */
export function corpusFolder(name: string): string {
  return join(findWorkspaceRoot(), "e2e/fuzz/corpus", name);
}

/** Folder of a target's inputs outside of the checkout. */
export function grownFolder(name: string): string {
  return cachePath(join("fuzz", name));
}

/** Returns the inputs in a folder; none if it does not exist. */
export function readInputs(folder: string): readonly Buffer[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch {
    return []; // not written yet
  }
  return names.toSorted().map((name) => readFileSync(join(folder, name)));
}

/** Adds an input to a folder, and returns its path. */
export function addInput(folder: string, input: Uint8Array): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, createHash("sha256").update(input).digest("hex").slice(0, 16));
  writeFileSync(path, input);
  return path;
}

/** Replaces the inputs in a folder, except those that once were findings. */
export function writeInputs(folder: string, inputs: readonly Uint8Array[]): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (!name.startsWith(finding)) rmSync(join(folder, name));
  for (const input of inputs) addInput(folder, input);
}

/** Returns the inputs that belong into the repository: the smallest ones. Findings are added by hand. */
export function toKeep(inputs: readonly Uint8Array[]): readonly Uint8Array[] {
  const small = inputs.filter(({ length }) => length <= mostBytes);
  return small.toSorted((one, other) => one.length - other.length).slice(0, mostKept);
}
