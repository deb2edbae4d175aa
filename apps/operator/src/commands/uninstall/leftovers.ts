// SPDX-License-Identifier: Apache-2.0
/**
 * readLeftovers reads what an uninstallation waits for: the SriovOperatorConfig and the AfxdpOperatorConfig, the DaemonSets that
 * the operator has deployed, and its webhook registrations. Objects of the same names from other clients do not count.
 */
import { afxdpOperatorConfigs, operatorConfigName, sriovOperatorConfigs, type ResourceType } from "@switchyard/api";
import { isKubeError, KubeError, listPages, type KubeObject } from "@switchyard/kube";
import { componentInventory, type InventoryItem } from "@switchyard/render";
import { toSeenObject } from "../../components/component-objects.ts";
import { isRegistration } from "../../components/webhook-registrations.ts";
import { readObject, type CommandDeps } from "../command.ts";

export interface Leftovers {
  /** The configs named "default" that exist, in the order in which they are to be deleted. */
  readonly configs: readonly OperatorConfig[];
  readonly daemonSets: readonly string[];
  readonly registrations: readonly Registration[];
  /** Requests that the API server refused, so that it is unknown whether something is left. */
  readonly unknown: readonly string[];
}

/** A SriovOperatorConfig or AfxdpOperatorConfig. */
export interface OperatorConfig {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** A webhook registration of the operator. Its objects have no namespace. */
export interface Registration {
  readonly item: InventoryItem;
  readonly object: KubeObject;
}

/** The AfxdpOperatorConfig comes first: without a SriovOperatorConfig, the operator deploys what AF_XDP alone needs. */
const configTypes = [afxdpOperatorConfigs, sriovOperatorConfigs];

/** Rejects with KubeError if a config cannot be read, and with CommandError TIMED_OUT. */
export async function readLeftovers(deps: CommandDeps, namespace: string): Promise<Leftovers> {
  const unknown: string[] = [];
  const unlessRefused = async <T>(read: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await read;
    } catch (error) {
      if (!isKubeError(error)) throw error;
      unknown.push(error.message);
      return otherwise;
    }
  };
  const inventory = componentInventory({ namespace });
  const configs: OperatorConfig[] = [];
  for (const type of configTypes) {
    const object = await readObject(deps, type, { name: operatorConfigName, namespace });
    if (object !== undefined) configs.push({ type, object });
  }
  const registrations: Registration[] = [];
  for (const item of inventory.filter(({ type }) => isRegistration(type))) {
    const object = await unlessRefused(readObject(deps, item.type, item), undefined);
    if (object !== undefined && toSeenObject(object).isDeployed) registrations.push({ item, object });
  }
  const daemonSets = await unlessRefused(readDaemonSets(deps, namespace, inventory), []);
  return { configs, daemonSets, registrations, unknown };
}

async function readDaemonSets(
  { transport, limit }: CommandDeps,
  namespace: string,
  inventory: readonly InventoryItem[],
): Promise<readonly string[]> {
  const items = inventory.filter(({ type }) => type.kind === "DaemonSet");
  const [first] = items;
  if (first === undefined) throw new KubeError("list DaemonSets", "UnexpectedResponse");
  const names = new Set(items.map(({ name }) => name));
  return limit.retry(async (signal) => {
    const found: string[] = [];
    for await (const page of listPages(transport, { type: first.type, namespace, pageSize: 100, signal })) {
      const ours = page.items.filter((object) => names.has(object.metadata.name) && toSeenObject(object).isDeployed);
      found.push(...ours.map(({ metadata }) => metadata.name));
    }
    return found;
  });
}
