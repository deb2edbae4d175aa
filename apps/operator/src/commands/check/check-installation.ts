// SPDX-License-Identifier: Apache-2.0
/** checkInstallation waits until a replica of the operator leads and the SriovOperatorConfig is Ready. */
import { operatorConfigName, sriovOperatorConfigs } from "@switchyard/api";
import { isRecord, type KubeObject, type ResourceType } from "@switchyard/kube";
import { readObject, type CommandDeps } from "../command.ts";

const leases: ResourceType = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};
const leaseName = "switchyard-operator";

const pollMs = 1_000;

/** Rejects with CommandError TIMED_OUT, which says what was missing, or with KubeError. `elects`: whether replicas elect a leader. */
export async function checkInstallation(
  deps: CommandDeps,
  { namespace, elects }: { readonly namespace: string; readonly elects: boolean },
): Promise<void> {
  if (elects) await waitForLeader(deps, namespace);
  await waitForConfig(deps, namespace);
}

/** A Lease may be what a dead replica has left, so a replica leads if it renews the Lease. Clocks are not compared. */
async function waitForLeader(deps: CommandDeps, namespace: string): Promise<void> {
  let first: KubeObject | undefined;
  for (;;) {
    const lease = await readObject(deps, leases, { namespace, name: leaseName });
    const holder = fieldOf(lease, "holderIdentity");
    const isHeld = typeof holder === "string" && holder !== "";
    if (isHeld && first !== undefined && revisionOf(lease) !== revisionOf(first)) {
      deps.print(`${holder} leads: it renews Lease ${leaseName}`);
      return;
    }
    first ??= isHeld ? lease : undefined;
    await deps.limit.pause(
      pollMs,
      isHeld
        ? `${holder} holds Lease ${leaseName}, but does not renew it`
        : `no replica of the operator holds Lease ${leaseName}`,
    );
  }
}

async function waitForConfig(deps: CommandDeps, namespace: string): Promise<void> {
  for (;;) {
    const config = await readObject(deps, sriovOperatorConfigs, { namespace, name: operatorConfigName });
    if (config === undefined) {
      deps.print(
        `SriovOperatorConfig ${operatorConfigName} does not exist: no component is deployed and no node is configured`,
      );
      return;
    }
    const problem = notReady(config);
    if (problem === undefined) {
      deps.print(`SriovOperatorConfig ${operatorConfigName} is Ready`);
      return;
    }
    await deps.limit.pause(pollMs, `SriovOperatorConfig ${operatorConfigName} ${problem}`);
  }
}

function notReady({ metadata, ...config }: KubeObject): string | undefined {
  const status = "status" in config && isRecord(config.status) ? config.status : {};
  const conditions: readonly unknown[] = Array.isArray(status["conditions"]) ? status["conditions"] : [];
  const ready = conditions.filter(isRecord).find((condition) => condition["type"] === "Ready");
  if (ready === undefined || status["observedGeneration"] !== metadata.generation) {
    return "has a change that the operator has not processed";
  }
  if (ready["status"] === "True") return undefined;
  return `is not Ready: ${String(ready["reason"])}: ${String(ready["message"])}`;
}

function fieldOf(lease: KubeObject | undefined, field: string): unknown {
  return lease !== undefined && "spec" in lease && isRecord(lease.spec) ? lease.spec[field] : undefined;
}

function revisionOf(object: KubeObject | undefined): string {
  return `${object?.metadata.uid ?? ""} ${object?.metadata.resourceVersion ?? ""}`;
}
