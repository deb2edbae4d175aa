// SPDX-License-Identifier: Apache-2.0
/**
 * The record of the nodes whose hosts `operator uninstall` gives back. The SriovNetworkNodeStates and AfxdpNetworkNodeStates, which
 * name the nodes, are deleted together with the operator configs. Therefore their names are written to a ConfigMap before, so that a
 * command that was killed, or that failed for some nodes, can be repeated.
 */
import { afxdpNetworkNodeStates, configMaps, sriovNetworkNodeStates } from "@switchyard/api";
import { isKubeError, isRecord, listPages, objectPath, type ResourceType } from "@switchyard/kube";
import { fieldManagers } from "../../field-managers.ts";
import { readObject, type CommandDeps } from "../command.ts";

/** Name of the ConfigMap. */
export const hostRecordName = "switchyard-hosts-to-give-back";

/**
 * Resolves with the sorted names of all nodes that have a state of either kind or that an earlier run has recorded, after they
 * are recorded. Writes nothing if there are none. Rejects with KubeError or CommandError TIMED_OUT.
 */
export async function recordHosts(deps: CommandDeps, namespace: string): Promise<readonly string[]> {
  const recorded = await readRecord(deps, namespace);
  const kinds = [sriovNetworkNodeStates, afxdpNetworkNodeStates];
  const found = await Promise.all(kinds.map((type) => nodesWithStates(type, deps, namespace)));
  const nodes = [...new Set([...recorded, ...found.flat()])].sort();
  if (nodes.length > recorded.length) await write(deps, namespace, nodes);
  return nodes;
}

/** Keeps only `left` in the record, and deletes it when nothing is left. */
export async function forgetHosts(deps: CommandDeps, namespace: string, left: readonly string[]): Promise<void> {
  if (left.length > 0) {
    await write(deps, namespace, [...left].sort());
    return;
  }
  await deps.limit.retry(async (signal) => {
    try {
      const path = objectPath(configMaps, { name: hostRecordName, namespace });
      await deps.transport.request({ method: "DELETE", path, signal });
    } catch (error) {
      if (!isKubeError(error, "NotFound")) throw error;
    }
  });
}

async function readRecord(deps: CommandDeps, namespace: string): Promise<readonly string[]> {
  const record = await readObject(deps, configMaps, { name: hostRecordName, namespace });
  const data: unknown = record !== undefined && "data" in record ? record.data : undefined;
  const text = isRecord(data) ? data["nodes"] : undefined;
  return typeof text === "string" ? text.split("\n").filter((name) => name !== "") : [];
}

async function nodesWithStates(
  type: ResourceType,
  { transport, limit }: CommandDeps,
  namespace: string,
): Promise<readonly string[]> {
  return limit.retry(async (signal) => {
    const names: string[] = [];
    try {
      const list = { type, namespace, pageSize: 100, signal };
      for await (const { items } of listPages(transport, list))
        names.push(...items.map(({ metadata }) => metadata.name));
    } catch (error) {
      if (!isKubeError(error, "NotFound")) throw error; // without the kind there are no objects
    }
    return names;
  });
}

async function write({ transport, limit }: CommandDeps, namespace: string, nodes: readonly string[]): Promise<void> {
  const name = { name: hostRecordName, namespace };
  await limit.retry((signal) =>
    transport.request({
      method: "PATCH",
      path: objectPath(configMaps, name),
      query: { fieldManager: fieldManagers.uninstall, force: true },
      contentType: "application/apply-patch+yaml",
      body: { apiVersion: "v1", kind: "ConfigMap", metadata: name, data: { nodes: nodes.join("\n") } },
      signal,
    }),
  );
}
