// SPDX-License-Identifier: Apache-2.0
/**
 * createNodeClaims has the driver of a simulated node prepare the ResourceClaims of pods, as the kubelet does: by gRPC, with one call for
 * all claims of a pod.
 */
import { draDriverName, resourceClaims } from "@switchyard/api";
import { isKubeObject, objectPath, type Transport } from "@switchyard/kube";
import type { ClaimedDevice, ClaimRef, PrepareAnswer } from "@switchyard/kubelet";
import { createDraKubelet } from "@switchyard/kubelet/testing/dra";
import { eventually } from "@switchyard/testing";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { claimNamesOf, type PodOnNode } from "./pods-on-node.ts";

/** The devices of a pod's claims. */
export interface PreparedClaims {
  readonly claims: readonly ClaimRef[];
  readonly devices: readonly ClaimedDevice[];
  /** PCI addresses of the VFs. */
  readonly vfs: readonly string[];
}

export interface NodeClaims extends Disposable {
  /** Returns the devices, or the sentence with which the driver has refused a claim. */
  prepare(pod: PodOnNode): Promise<PreparedClaims | { readonly error: string }>;
  /** Returns the sentence with which the driver has refused it. */
  unprepare(claims: readonly ClaimRef[]): Promise<string | undefined>;
}

/** The driver registers in `kubeletDirectory`, at the latest 60 s after the first call. */
export function createNodeClaims(transport: Transport, kubeletDirectory: string): NodeClaims {
  const kubelet = createDraKubelet(kubeletDirectory);
  let registered: Promise<unknown> | undefined;

  async function register(): Promise<void> {
    const socket = join(kubeletDirectory, "plugins_registry", `${draDriverName}-reg.sock`);
    await eventually("the driver of ResourceClaims registers", () => access(socket).then(() => true), {
      withinMs: 60_000,
    });
    await kubelet.register(draDriverName);
  }

  return {
    async prepare(pod) {
      registered ??= register();
      await registered;
      const claims = await Promise.all(claimNamesOf(pod).map((name) => refTo(transport, pod.metadata.namespace, name)));
      const answers = await kubelet.prepare(claims);
      const results = claims.map((claim) => ({ claim, answer: answers.get(claim.uid) }));
      const refused = results.find(({ answer }) => errorOf(answer) !== undefined);
      if (refused !== undefined) return { error: errorOf(refused.answer) ?? "" };
      const prepared = results.flatMap(({ claim, answer }) =>
        answer !== undefined && "devices" in answer
          ? answer.devices.map((device) => ({ claim: claim.name, device }))
          : [],
      );
      return {
        claims,
        devices: prepared.map(({ claim, device: { pool, device } }) => ({
          claim,
          driver: draDriverName,
          pool,
          device,
        })),
        vfs: prepared.flatMap(({ device: { cdiDevices } }) => cdiDevices.flatMap((name) => name.split("=")[1] ?? [])),
      };
    },
    async unprepare(claims) {
      if (claims.length === 0) return undefined;
      const answers = await kubelet.unprepare(claims);
      return [...answers.values()].find((error) => error !== undefined);
    },
    [Symbol.dispose]() {
      kubelet[Symbol.dispose]();
    },
  };
}

function errorOf(answer: PrepareAnswer | undefined): string | undefined {
  if (answer === undefined) return "the driver has not answered for the claim";
  return "error" in answer ? answer.error : undefined;
}

/** Rejects with KubeError. */
async function refTo(transport: Transport, namespace: string, name: string): Promise<ClaimRef> {
  const claim = await transport.request({ method: "GET", path: objectPath(resourceClaims, { namespace, name }) });
  const uid = isKubeObject(claim) ? (claim.metadata.uid ?? "") : "";
  return { namespace, name, uid };
}
