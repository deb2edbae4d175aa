// SPDX-License-Identifier: Apache-2.0
/**
 * readCrds reads the CustomResourceDefinitions that the image ships. A file with anything else is refused as a whole, so that
 * the command cannot apply other objects with its rights.
 */
import {
  afxdpApiGroup,
  apiGroup,
  customResourceDefinitions,
  networkAttachmentDefinitions,
  type CustomResourceDefinition,
} from "@switchyard/api";
import { apiVersionOf, isKubeObject, isRecord, type KubeObject } from "@switchyard/kube";
import { isErrno } from "@switchyard/service";
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { CommandError } from "../command.ts";

/** A CRD and the file that it comes from, for messages. */
export interface ShippedCrd {
  readonly file: string;
  readonly crd: CustomResourceDefinition;
  /** Whether it is of one of Switchyard's groups. Others are created if they are missing, and never changed. */
  readonly isOwn: boolean;
}

/** The API server accepts no larger object; etcd's limit is 1.5 MiB. */
const maxFileBytes = 1_048_576;

const maxFiles = 100;

/** The directory crds beside the program, or the chart's if the program runs from its sources. */
export function defaultCrdDirectory(program = process.argv[1] ?? ""): string {
  return join(dirname(program), program.endsWith(".ts") ? "../../../charts/switchyard/crds" : "crds");
}

/** Sorted by file name. Rejects with CommandError CRDS_UNREADABLE, which names the file. */
export async function readCrds(directory: string): Promise<readonly ShippedCrd[]> {
  const names = (await listNames(directory)).filter((name) => /\.(?:ya?ml|json)$/.test(name)).toSorted();
  if (names.length === 0) throw unreadable(directory, "contains no .yaml file");
  if (names.length > maxFiles)
    throw unreadable(directory, `contains ${names.length} files; at most ${maxFiles} are read`);
  const files = await Promise.all(names.map((name) => readCrdFile(join(directory, name))));
  const crds = files.flat();
  const twice = crds.find(
    ({ crd }, index) => crds.findIndex((other) => other.crd.metadata.name === crd.metadata.name) < index,
  );
  if (twice !== undefined)
    throw unreadable(twice.file, `contains ${twice.crd.metadata.name}, which another file also contains`);
  return crds;
}

async function listNames(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw unreadable(directory, `cannot be read: ${error.code}`, error);
  }
}

async function readCrdFile(file: string): Promise<readonly ShippedCrd[]> {
  let text;
  try {
    const { size } = await stat(file);
    if (size > maxFileBytes) throw unreadable(file, `has ${size} bytes; at most ${maxFileBytes} are read`);
    text = await readFile(file, "utf8");
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw unreadable(file, `cannot be read: ${error.code}`, error);
  }
  const documents = [...parseAllDocuments(text, { version: "1.1" })].filter((document) => document.contents !== null);
  if (documents.length === 0) throw unreadable(file, "contains no object");
  return documents.map((document, index) => {
    const at = `document ${index + 1}`;
    const [problem] = document.errors;
    if (problem !== undefined) throw unreadable(file, `${at}: invalid YAML: ${problem.message.split("\n")[0] ?? ""}`);
    return {
      file,
      ...parseCrd(
        file,
        at,
        toJson(file, at, () => document.toJS({ maxAliasCount: 100 })),
      ),
    };
  });
}

function toJson(file: string, at: string, convert: () => unknown): unknown {
  try {
    return convert();
  } catch (error) {
    // An alias without an anchor, or so many aliases that the result would be huge.
    throw unreadable(file, `${at}: invalid YAML: ${String(error)}`, error);
  }
}

function parseCrd(file: string, at: string, object: unknown): Omit<ShippedCrd, "file"> {
  const expected = apiVersionOf(customResourceDefinitions);
  if (!isKubeObject(object))
    throw unreadable(file, `${at} is not a Kubernetes object; expected a CustomResourceDefinition`);
  if (!isCrd(object)) {
    throw unreadable(
      file,
      `${at} is ${object.kind} ${object.metadata.name}; expected a CustomResourceDefinition of ${expected}`,
    );
  }
  const { metadata, spec } = object;
  const { group, names } = spec;
  if (metadata.name !== `${names.plural}.${group}`) {
    throw unreadable(file, `${at}: metadata.name is "${metadata.name}"; expected "${names.plural}.${group}"`);
  }
  const isOwn = group === apiGroup || group === afxdpApiGroup;
  const nads = networkAttachmentDefinitions;
  if (!isOwn && !(group === nads.group && names.plural === nads.plural)) {
    throw unreadable(file, `${at} defines the kind ${names.kind} of the group "${group}", which is not Switchyard's`);
  }
  return { crd: object, isOwn };
}

function isCrd(object: KubeObject & { readonly spec?: unknown }): object is CustomResourceDefinition {
  const { apiVersion, kind, spec } = object;
  const { group, names, versions }: Readonly<Record<string, unknown>> = isRecord(spec) ? spec : {};
  return (
    apiVersion === apiVersionOf(customResourceDefinitions) &&
    kind === customResourceDefinitions.kind &&
    typeof group === "string" &&
    isRecord(names) &&
    typeof names["plural"] === "string" &&
    typeof names["kind"] === "string" &&
    Array.isArray(versions) &&
    versions.every((version: unknown) => isRecord(version) && typeof version["name"] === "string")
  );
}

function unreadable(path: string, problem: string, cause?: unknown): CommandError {
  return new CommandError("CRDS_UNREADABLE", `${path}: ${problem}`, cause);
}
