// SPDX-License-Identifier: Apache-2.0
/**
 * liveKubelet plays the kubelet and the device plugin of a node for its daemon: it says which pods have which VFs. It
 * offers all VFs that the node state does not name in annotations.drainVfs, as device-plugin-config does.
 */
import { ok, type SriovNetworkNodeState } from "@switchyard/api";
import type { DaemonOptions } from "@switchyard/config-daemon/daemon";
import { drainedVfs, hasVf } from "@switchyard/policy";

export interface LiveKubelet extends NonNullable<DaemonOptions["kubelet"]> {
  /** Gives a VF to a pod. */
  give(vf: string, pod: string): void;
}

export interface LiveKubeletDeps {
  readonly namespace: string;
  readonly state: () => SriovNetworkNodeState | undefined;
  /** Whether the pod exists. */
  readonly hasPod: (name: string) => boolean;
}

export function liveKubelet({ namespace, state, hasPod }: LiveKubeletDeps): LiveKubelet {
  const given = new Map<string, string>();
  return {
    give: (vf, pod) => given.set(vf, pod),
    readAfxdp: () => Promise.resolve(ok({ held: new Set(), offered: new Set(), heldPools: new Set() })),
    readHolders() {
      const held = [...given].filter(([, name]) => hasPod(name));
      const holder = { namespace, via: "device-plugin", resource: "openshift.io/fast" } as const;
      const byId = new Map(held.map(([vf, name]) => [vf, [{ ...holder, name }]]));
      return Promise.resolve(ok({ byId, isNewKubelet: false }));
    },
    readOffered() {
      const node = state();
      const withheld = (node && drainedVfs(node)) ?? new Map<string, "all">();
      const vfs = (node?.status?.interfaces ?? []).flatMap(({ pciAddress, Vfs = [] }) =>
        Vfs.filter(({ vfID }) => !hasVf(withheld, pciAddress, vfID)),
      );
      return Promise.resolve(ok(new Set(vfs.map(({ pciAddress }) => pciAddress))));
    },
  };
}
