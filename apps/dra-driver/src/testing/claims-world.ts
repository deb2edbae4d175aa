// SPDX-License-Identifier: Apache-2.0
/** A node with one igb port and VFs of one resource on a fake kernel, for tests of claims. */
import { draDriverName, type PciAddress, type SriovNetworkNodeState, type VfGroup } from "@switchyard/api";
import type { Host } from "@switchyard/host";
import { createFakeKernel, igb, pci, type FakeKernel } from "@switchyard/host/testing";
import type { ClaimRef } from "@switchyard/kubelet";
import { deviceNameOf } from "@switchyard/render";
import { silentLogger } from "@switchyard/service/testing";
import { createClaims, type Claims, type ClaimsDeps } from "../claims/prepare-claims.ts";

export const nodeName = "worker-1";
export const pf = pci("0000:01:00.0");
export const metadataDirectory = `/var/lib/kubelet/plugins/${draDriverName}/metadata`;

export interface ClaimsWorld {
  readonly kernel: FakeKernel;
  /** Addresses of the VFs by vfID. */
  readonly vfs: readonly PciAddress[];
  state: SriovNetworkNodeState;
  /** Stores a claim with these VFs in the API, and returns how the kubelet names it. */
  allocate(name: string, vfIds: readonly number[], more?: ClaimOptions): ClaimRef;
  /** Returns a driver that has just started. */
  start(options?: Partial<ClaimsDeps>): Claims;
  /** The driver of each VF. */
  drivers(): Promise<readonly (string | undefined)[]>;
  /** Names of the files that driver and claims have on the host. */
  files(): readonly string[];
}

export interface ClaimOptions {
  readonly driver?: string;
  readonly isAdmin?: boolean;
  readonly request?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly addVhostMount?: boolean;
  readonly netAttachDefName?: string;
}

/** Creates four VFs. `group` changes the settings of their group. */
export async function createClaimsWorld(group: Partial<VfGroup> = {}): Promise<ClaimsWorld> {
  const kernel = createFakeKernel({ nics: [igb(pf)], rdmaMode: "shared" });
  const host = kernel.host();
  await host.modules.load("igbvf");
  await host.sriov.setNumVfs(pf, 4);
  const found = (await host.sriov.readPf(pf))?.sriov?.vfs ?? [];
  const vfs = found.map(({ pciAddress }) => pciAddress);
  for (const [nth, address] of vfs.entries()) {
    kernel.linkFile(`/sys/bus/pci/devices/${address}/iommu_group`, `../../../kernel/iommu_groups/${40 + nth}`);
    kernel.writeFile(`/sys/bus/pci/devices/${address}/vfio-dev/vfio${nth}/dev`, "");
  }
  const sysfs = new Set(kernel.listFiles());
  const claims = new Map<string, object>();
  const world: ClaimsWorld = {
    kernel,
    vfs,
    state: {
      apiVersion: "sriovnetwork.openshift.io/v1",
      kind: "SriovNetworkNodeState",
      metadata: { name: nodeName },
      spec: {
        interfaces: [
          {
            pciAddress: pf,
            numVfs: 4,
            vfGroups: [{ resourceName: "fast", vfRange: "0-3", policyName: "p", ...group }],
          },
        ],
      },
      status: {
        interfaces: [
          { pciAddress: pf, totalvfs: 7, numVfs: 4, Vfs: vfs.map((pciAddress, vfID) => ({ pciAddress, vfID })) },
        ],
      },
    },
    allocate(name, vfIds, { isAdmin = false, request = "nic", annotations, ...fields } = {}) {
      const uid = `uid-of-${name}`;
      const parameters = { apiVersion: `${draDriverName}/v1alpha1`, kind: "VfConfig", ...fields };
      const results = vfIds.map((id) => ({
        driver: draDriverName,
        pool: nodeName,
        device: deviceNameOf(vfs[id] ?? ""),
        request,
        adminAccess: isAdmin,
      }));
      const asks = Object.keys(fields).length > 0;
      const config = asks ? [{ source: "FromClaim", opaque: { driver: draDriverName, parameters } }] : [];
      claims.set(`default/${name}`, {
        metadata: { namespace: "default", name, uid, annotations },
        status: { allocation: { devices: { results, config } } },
      });
      return { namespace: "default", name, uid };
    },
    start: (options = {}) =>
      createClaims({
        nodeName,
        resourcePrefix: "openshift.io",
        host,
        metadataDirectory,
        state: () => world.state,
        readClaim: ({ namespace, name }) => Promise.resolve(claims.get(`${namespace}/${name}`)),
        obstacles: () => Promise.resolve(new Map()),
        whyNotAttached: () => undefined,
        prepared: () => undefined,
        log: silentLogger,
        ...options,
      }),
    drivers: () => Promise.all(vfs.map(async (vf) => (await host.sriov.readBinding(vf))?.driver)),
    files: () => kernel.listFiles().filter((path) => !sysfs.has(path)),
  };
  return world;
}

/** What the process is killed by. */
export const killed = new Error("killed");

/** Returns the ports of a process that is killed at its nth write, before or after it has its effect. */
export function mortal(host: Host, { nth, when }: { readonly nth: number; readonly when: "before" | "after" }) {
  const state = { writes: 0, isDead: false };
  const writing = new Set([
    "writeText",
    "remove",
    "bindDriver",
    "unbindDriver",
    "setDriverOverride",
    "probeDrivers",
    "load",
  ]);
  const wrap = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, method) {
        const call: unknown = Reflect.get(target, method);
        if (typeof call !== "function") return call;
        return async (...args: unknown[]): Promise<unknown> => {
          if (state.isDead) return new Promise(() => undefined);
          const isDeadly = writing.has(String(method)) && ++state.writes === nth;
          if (isDeadly && when === "before") {
            state.isDead = true;
            throw killed;
          }
          const result: unknown = await Reflect.apply(call, target, args);
          if (!isDeadly) return result;
          state.isDead = true;
          throw killed;
        };
      },
    });
  return { host: { sriov: wrap(host.sriov), modules: wrap(host.modules), files: wrap(host.files) }, state };
}
