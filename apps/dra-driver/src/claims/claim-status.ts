// SPDX-License-Identifier: Apache-2.0
/**
 * createClaimStatus reports in the status of ResourceClaims that their VFs are prepared (KEP-4817). Each driver applies its own devices
 * by server-side apply, and the API server lets this node's token write only claims that are allocated to the node. The status informs
 * people: that it cannot be written keeps no pod from starting.
 */
import { defined, draDriverName, resourceClaims } from "@switchyard/api";
import { createWriter, type KubeObject, type Transport } from "@switchyard/kube";
import type { AllocatedClaim } from "@switchyard/policy";
import type { Logger } from "@switchyard/service";

export interface ClaimStatusDeps {
  readonly transport: Transport;
  readonly nodeName: string;
  readonly now: () => Date;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The interface of a VF in its pod, as the status of a claim has it (resource.k8s.io/v1, NetworkDeviceData). */
export interface NetworkData {
  readonly interfaceName: string;
  /** "10.0.0.7/24". */
  readonly ips: readonly string[];
  readonly hardwareAddress?: string;
}

/** A ResourceClaim with the part of its status that the driver applies. */
interface ClaimWithDevices extends KubeObject {
  readonly status?: { readonly devices: readonly object[] };
}

/** Must stay the same in all releases. */
const manager = "switchyard-dra-driver";

/** A node has some hundreds of VFs. */
const maxWaiting = 1_024;

/** `networks` are the interfaces of the VFs in the pod, by the names of their devices. */
export type WriteClaimStatus = (claim: AllocatedClaim, networks?: ReadonlyMap<string, NetworkData>) => Promise<void>;

/** Returns a function that writes the status of a prepared claim, and never throws. */
export function createClaimStatus(deps: ClaimStatusDeps): WriteClaimStatus {
  const { transport, nodeName, now, log, signal } = deps;
  const writer = createWriter<ClaimWithDevices>({ transport, type: resourceClaims, manager });
  /** When claims that name networks became ready, by uid, until their interfaces are reported: the time must not change then. */
  const readyAt = new Map<string, Date>();
  return async (claim, networks = new Map()) => {
    const { namespace, name, uid } = claim;
    const at = networks.size === 0 ? now() : (readyAt.get(uid) ?? now());
    if (networks.size > 0) readyAt.delete(uid);
    else if (claim.devices.some(({ config }) => config.netAttachDefName !== undefined)) {
      readyAt.set(uid, at);
      // The oldest ones: nobody reports the interfaces that Multus attaches.
      for (const old of [...readyAt.keys()].slice(0, -maxWaiting)) readyAt.delete(old);
    }
    const devices = devicesOf(claim, { pool: nodeName, at, networks });
    try {
      await writer.applyStatus({ metadata: { namespace, name, uid }, status: { devices } }, signal);
    } catch (error) {
      if (!signal.aborted) log.warn({ claim: `${namespace}/${name}`, error }, "status of the claim not written");
    }
  };
}

/** The devices of the claim, each with the condition Ready. */
function devicesOf(
  { devices }: AllocatedClaim,
  {
    pool,
    at,
    networks,
  }: { readonly pool: string; readonly at: Date; readonly networks: ReadonlyMap<string, NetworkData> },
): readonly object[] {
  return devices.map(({ device, config }) => ({
    driver: draDriverName,
    pool,
    device,
    conditions: [
      {
        type: "Ready",
        status: "True",
        reason: "Prepared",
        message:
          config.driver === undefined
            ? "the VF is prepared with the driver of its policy"
            : `the VF is prepared with the driver that the claim asks for: ${config.driver}`,
        lastTransitionTime: at.toISOString().replace(/\.\d+Z$/, "Z"),
      },
    ],
    ...defined({ networkData: networks.get(device) }),
  }));
}
