// SPDX-License-Identifier: Apache-2.0
/**
 * applyCrds brings the CustomResourceDefinitions of the cluster to those of this release, and waits until the API server
 * serves them. Helm installs the files of a chart's crds/ once and never upgrades them.
 *
 * - Own CRDs are applied by server-side apply with force: whoever installed them, the schema is this release's afterwards. If
 *   nothing differs, nothing is sent.
 * - A CRD of a newer release stays: older programs work with it, and an older schema would drop fields of stored objects.
 * - The CRD of NetworkAttachmentDefinitions belongs to Multus. It is created if it is missing, and never changed.
 */
import {
  annotations,
  customResourceDefinitions as type,
  type CustomResourceDefinition,
  type CustomResourceVersion,
} from "@switchyard/api";
import { collectionPath, createWriter, isKubeError, isRecord, type KubeObject, type Transport } from "@switchyard/kube";
import { productVersion } from "@switchyard/service";
import { fieldManagers } from "../../field-managers.ts";
import { readObject, type CommandDeps } from "../command.ts";
import { isNewer } from "./product-version.ts";
import type { ShippedCrd } from "./read-crds.ts";
import { missingFields } from "../../schemas/schema-fields.ts";

const pollMs = 250;

/**
 * Resolves with whether all CRDs are applied and served. A CRD that the API server refuses does not stop the others; its
 * file, name and the answer are printed. Rejects with CommandError TIMED_OUT.
 */
export async function applyCrds(deps: CommandDeps, crds: readonly ShippedCrd[]): Promise<boolean> {
  const applied: ShippedCrd[] = [];
  for (const shipped of crds) {
    const { name } = shipped.crd.metadata;
    try {
      deps.print(`${name}: ${await applyCrd(deps, shipped)}`);
      applied.push(shipped);
    } catch (error) {
      if (!isKubeError(error)) throw error;
      deps.fail(`${name} (${shipped.file}): ${error.message}`);
    }
  }
  await waitUntilServed(deps, applied);
  if (applied.length > 0) deps.print(`${applied.length} CustomResourceDefinitions are established and served`);
  return applied.length === crds.length;
}

/** Resolves with what was done, in a word or two. */
async function applyCrd(deps: CommandDeps, { crd, isOwn }: ShippedCrd): Promise<string> {
  const { transport, limit } = deps;
  const live = await readLive(deps, crd.metadata.name);
  if (!isOwn) {
    if (live !== undefined) return "exists; not changed, because it belongs to Multus";
    return limit.retry((signal) => create(transport, crd, signal));
  }
  const liveVersion = live?.metadata.annotations?.[annotations.crdsVersion] ?? "";
  if (isNewer(liveVersion, productVersion)) return `kept; version ${liveVersion} is newer than ${productVersion}`;
  warnOfLoss(deps, crd, live);

  const { metadata, spec } = crd;
  const writer = createWriter<KubeObject & CustomResourceDefinition>({ transport, type, manager: fieldManagers.crds });
  const intent = {
    metadata: { name: metadata.name, annotations: metadata.annotations, labels: metadata.labels },
    spec,
  };
  const result = await limit.retry((signal) => writer.apply(intent, signal));
  if (result === "unchanged") return "unchanged";
  return live === undefined ? "created" : "updated";
}

async function create(transport: Transport, crd: CustomResourceDefinition, signal: AbortSignal): Promise<string> {
  try {
    const query = { fieldManager: fieldManagers.crds };
    await transport.request({ method: "POST", path: collectionPath(type), query, body: crd, signal });
    return "created";
  } catch (error) {
    if (!isKubeError(error, "AlreadyExists")) throw error;
    return "exists; not changed, because it belongs to Multus";
  }
}

/** The API server no longer returns the values of fields that a schema lacks, and drops them at the next write. */
function warnOfLoss(
  { fail }: CommandDeps,
  crd: CustomResourceDefinition,
  live: CustomResourceDefinition | undefined,
): void {
  for (const version of crd.spec.versions) {
    const present = live?.spec.versions.find(({ name }) => name === version.name);
    if (present === undefined) continue;
    const lost = missingFields({ wanted: schemaOf(present), present: schemaOf(version) });
    if (lost.length === 0) continue;
    const fields = `${lost.slice(0, 5).join(", ")}${lost.length > 5 ? ` and ${lost.length - 5} more` : ""}`;
    fail(
      `${crd.metadata.name}: warning: the installed ${version.name} has fields that this release does not have: ${fields}`,
    );
  }
}

function schemaOf({ schema }: CustomResourceVersion): unknown {
  return schema?.openAPIV3Schema;
}

/** Waits until all are Established, and in discovery, which is what clients and the garbage collector read. */
async function waitUntilServed(deps: CommandDeps, crds: readonly ShippedCrd[]): Promise<void> {
  const { limit } = deps;
  let waiting = crds.map(({ crd }) => crd);
  while (waiting.length > 0) {
    const rest: { readonly crd: CustomResourceDefinition; readonly problem: string }[] = [];
    for (const crd of waiting) {
      const problem = notEstablished(await readLive(deps, crd.metadata.name)) ?? (await notDiscovered(deps, crd));
      if (problem !== undefined) rest.push({ crd, problem });
    }
    waiting = rest.map(({ crd }) => crd);
    const [first] = rest;
    if (first === undefined) return;
    await limit.pause(pollMs, `${first.crd.metadata.name} ${first.problem}`);
  }
}

function notEstablished(live: CustomResourceDefinition | undefined): string | undefined {
  if (live === undefined) return "was deleted by another program";
  if (live.metadata.deletionTimestamp !== undefined) return "is being deleted; it can be applied when it is gone";
  const conditions = live.status?.conditions ?? [];
  const refused = conditions.find(({ type: of, status }) => of === "NamesAccepted" && status === "False");
  if (refused !== undefined) return `is not accepted: ${refused.message ?? "its names are in use"}`;
  const isEstablished = conditions.some(({ type: of, status }) => of === "Established" && status === "True");
  return isEstablished ? undefined : "is not established yet";
}

async function notDiscovered(
  { transport, limit }: CommandDeps,
  crd: CustomResourceDefinition,
): Promise<string | undefined> {
  const { group, names, versions } = crd.spec;
  for (const { name, served } of versions) {
    if (!served) continue;
    const path = `/apis/${encodeURIComponent(group)}/${encodeURIComponent(name)}`;
    const list = await limit.retry(async (signal) => {
      try {
        return await transport.request({ method: "GET", path, signal });
      } catch (error) {
        if (isKubeError(error, "NotFound")) return undefined;
        throw error;
      }
    });
    const resources: unknown = isRecord(list) ? list["resources"] : undefined;
    const isListed = Array.isArray(resources) && resources.some((it) => isRecord(it) && it["name"] === names.plural);
    if (!isListed) return `is not served as ${group}/${name} yet`;
  }
  return undefined;
}

/** The API server validates CustomResourceDefinitions, so an object of this kind has its form. */
async function readLive(deps: CommandDeps, name: string): Promise<CustomResourceDefinition | undefined> {
  return (await readObject(deps, type, { name })) as CustomResourceDefinition | undefined;
}
