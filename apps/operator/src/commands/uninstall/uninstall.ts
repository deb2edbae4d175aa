// SPDX-License-Identifier: Apache-2.0
/**
 * uninstall deletes the SriovOperatorConfig and the AfxdpOperatorConfig while the operator still runs, and waits until the
 * operator and the garbage collector have removed what was deployed for them. CustomResourceDefinitions, policies, networks and VFs
 * stay.
 *
 * Without a working operator nobody removes the webhook registrations, and a registration without a server refuses requests of
 * all users. At the end of the time, uninstall therefore removes them itself, and upstream's finalizer from the
 * SriovOperatorConfig. It does the same with the registrations at once if the API server refuses the deletion, because the
 * webhook may be the reason.
 */
import { operatorConfigName, sriovOperatorConfigs, upstreamFinalizers } from "@switchyard/api";
import {
  isKubeError,
  isRecord,
  objectPath,
  removeFinalizer,
  type KubeObject,
  type ResourceType,
} from "@switchyard/kube";
import { CommandError, readObject, type CommandDeps, type TimeLimit } from "../command.ts";
import { readLeftovers, type Leftovers, type OperatorConfig, type Registration } from "./leftovers.ts";

export interface UninstallDeps extends CommandDeps {
  /** Starts the time in which uninstall removes by itself what the operator has left. */
  readonly startLastLimit: () => TimeLimit;
  /** Whether hosts are given back afterwards, so that VFs do not stay. */
  readonly givesHostsBack?: boolean;
}

const pollMs = 500;

/**
 * Resolves with whether the configs and all webhook registrations are gone. Rejects with KubeError if a config cannot be read, with CommandError TIMED_OUT if the API server does not answer at all, and with the
 * reason of the command's signal.
 */
export async function uninstall(deps: UninstallDeps, namespace: string): Promise<boolean> {
  try {
    const config = await readObject(deps, sriovOperatorConfigs, { name: operatorConfigName, namespace });
    const pools = config === undefined ? [] : poolsWithOffload(config);
    if (config?.metadata.deletionTimestamp === undefined && pools.length > 0) {
      deps.fail(offloadAdvice(pools));
      return false;
    }
    const left = await waitForOperator(deps, namespace);
    if (left.unknown.length > 0) return reportUnknown(deps, left);
    const stays = deps.givesHostsBack === true ? "policies and networks stay" : "policies, networks and VFs stay";
    deps.print(`uninstalled: CustomResourceDefinitions, ${stays}`);
    return true;
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== "TIMED_OUT") throw error;
    deps.fail(`${error.message}; the operator does not seem to work; removing what would block the cluster`);
    using limit = deps.startLastLimit();
    return await removeWithoutOperator({ ...deps, limit }, namespace);
  }
}

/** Resolves when nothing is left. Rejects with CommandError TIMED_OUT. */
async function waitForOperator(deps: UninstallDeps, namespace: string): Promise<Leftovers> {
  let said = "";
  for (let round = 0; ; round++) {
    const left = await readLeftovers(deps, namespace);
    if (round === 0 && !left.configs.some(({ type }) => type === sriovOperatorConfigs)) {
      deps.print("SriovOperatorConfig default does not exist");
    }
    const live = left.configs.find(({ object }) => object.metadata.deletionTimestamp === undefined);
    if (live !== undefined) {
      await deleteConfig(deps, live, left.registrations);
      continue;
    }
    const waiting = describe(left);
    if (waiting === "") return left;
    if (waiting !== said) deps.print(`waiting for ${waiting}`);
    said = waiting;
    await deps.limit.pause(pollMs, waiting);
  }
}

async function deleteConfig(
  deps: UninstallDeps,
  { type, object }: OperatorConfig,
  registrations: readonly Registration[],
): Promise<void> {
  const name = `${type.kind} ${operatorConfigName}`;
  try {
    await deleteObject(deps, type, object);
    deps.print(`${name}: deleted`);
  } catch (error) {
    // The answer of a webhook, or that none answered, has no code of its own.
    if (!isKubeError(error) || registrations.length === 0 || !(await mayDelete(deps, type, object))) throw error;
    deps.fail(`${name}: ${error.message}; removing the webhook registrations, which may be the reason`);
    await removeRegistrations(deps, registrations);
    await deleteObject(deps, type, object);
    deps.print(`${name}: deleted`);
  }
}

async function removeWithoutOperator(deps: UninstallDeps, namespace: string): Promise<boolean> {
  const before = await readLeftovers(deps, namespace);
  const isUnregistered = await removeRegistrations(deps, before.registrations);
  let isDeleted = true;
  for (const config of before.configs) isDeleted = (await removeConfig(deps, config)) && isDeleted;
  const after = await readLeftovers(deps, namespace);
  if (after.daemonSets.length > 0) {
    deps.fail(`DaemonSets left: ${after.daemonSets.join(", ")}; the garbage collector deletes them with their owner`);
  }
  if (after.unknown.length > 0) return reportUnknown(deps, after);
  return isUnregistered && isDeleted;
}

/** Deletes it and removes upstream's finalizer. Finalizers of other programs are theirs to remove. */
async function removeConfig(deps: UninstallDeps, { type, object: config }: OperatorConfig): Promise<boolean> {
  const { transport, limit, print, fail } = deps;
  try {
    if (config.metadata.deletionTimestamp === undefined) await deleteObject(deps, type, config);
    const path = objectPath(type, config.metadata);
    const left = config.metadata.finalizers ?? [];
    if (left.includes(upstreamFinalizers.operatorConfig)) {
      const { name, namespace, uid, finalizers = [] } = config.metadata;
      const object = { metadata: { name, finalizers, ...(namespace && { namespace }), ...(uid && { uid }) } };
      await limit.retry((signal) =>
        removeFinalizer({ transport, type, object, finalizer: upstreamFinalizers.operatorConfig, signal }),
      );
      print(`${type.kind} ${operatorConfigName}: removed the finalizer ${upstreamFinalizers.operatorConfig}`);
    }
    const others = left.filter((finalizer) => finalizer !== upstreamFinalizers.operatorConfig);
    if (others.length === 0) return true;
    fail(`${path}: finalizers of other programs are left: ${others.join(", ")}`);
  } catch (error) {
    if (!isKubeError(error)) throw error;
    fail(`${type.kind} ${operatorConfigName}: ${error.message}`);
  }
  return false;
}

/** Resolves with whether all are gone. */
async function removeRegistrations(deps: UninstallDeps, registrations: readonly Registration[]): Promise<boolean> {
  let isComplete = true;
  for (const { item, object } of registrations) {
    const { kind } = item.type;
    try {
      await deleteObject(deps, item.type, object);
      deps.print(`${kind} ${item.name}: deleted`);
    } catch (error) {
      if (!isKubeError(error)) throw error;
      const command = `kubectl delete ${kind.toLowerCase()} ${item.name}`;
      deps.fail(`${kind} ${item.name}: ${error.message}; it refuses requests while no webhook answers: run ${command}`);
      isComplete = false;
    }
  }
  return isComplete;
}

/** Succeeds if the object is already gone, or if its name now belongs to another object. */
async function deleteObject(
  { transport, limit }: CommandDeps,
  type: ResourceType,
  { metadata }: KubeObject,
): Promise<void> {
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid: metadata.uid } };
  await limit.retry(async (signal) => {
    try {
      await transport.request({ method: "DELETE", path: objectPath(type, metadata), body, signal });
    } catch (error) {
      if (!isKubeError(error, "NotFound", "Conflict")) throw error;
    }
  });
}

/** Whether RBAC allows the deletion, so that something else has refused it. */
async function mayDelete(
  { transport, limit }: CommandDeps,
  { group, plural: resource }: ResourceType,
  { metadata }: KubeObject,
): Promise<boolean> {
  const { name, namespace } = metadata;
  const body = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes: { group, resource, name, namespace, verb: "delete" } },
  };
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const review = await limit.retry((signal) => transport.request({ method: "POST", path, body, signal }));
  return isRecord(review) && isRecord(review["status"]) && review["status"]["allowed"] === true;
}

function reportUnknown({ fail }: UninstallDeps, { unknown }: Leftovers): false {
  for (const message of unknown) fail(`not known whether something is left: ${message}`);
  return false;
}

/** "" if nothing is left. */
function describe({ configs, daemonSets, registrations }: Leftovers): string {
  const parts = [
    ...configs.map(({ type, object }) => {
      const { finalizers = [] } = object.metadata;
      const holders = finalizers.length > 0 ? ` (finalizer ${finalizers.join(", ")})` : "";
      return `${type.kind} ${operatorConfigName}${holders}`;
    }),
    daemonSets.length === 0 ? "" : `DaemonSet ${daemonSets.join(", ")}`,
    registrations.map(({ item }) => `${item.type.kind} ${item.name}`).join(", "),
  ];
  return parts.filter((part) => part !== "").join(" and ");
}

/**
 * poolsWithOffload returns the pools whose hosts run OVN on their SmartNIC, or are about to run it on the host again. Without
 * the SriovOperatorConfig and ovn-offload, nobody would give them back their Open vSwitch.
 * Reads status.ovnHardwareOffload, which has a pool until all its hosts are restored.
 */
function poolsWithOffload(config: KubeObject): readonly string[] {
  const status = "status" in config && isRecord(config.status) ? config.status : {};
  const pools: readonly unknown[] = Array.isArray(status["ovnHardwareOffload"]) ? status["ovnHardwareOffload"] : [];
  return pools.filter(isRecord).flatMap(({ pool }) => (typeof pool === "string" ? [pool] : []));
}

/** What an administrator must do first. */
function offloadAdvice(pools: readonly string[]): string {
  return (
    `nothing is uninstalled, because OVN of these pools runs on SmartNICs: ${pools.join(", ")}; remove ` +
    "spec.ovnHardwareOffload from SriovOperatorConfig default, wait until its status.ovnHardwareOffload is empty, and " +
    "repeat; if ovn-offload cannot run any more, delete SriovOperatorConfig default by hand: the hosts then stay without " +
    "Open vSwitch"
  );
}
