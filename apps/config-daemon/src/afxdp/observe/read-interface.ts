// SPDX-License-Identifier: Apache-2.0
/**
 * readInterface reads what a network interface offers to AF_XDP: MTU, queues, and what its driver supports of XDP.
 */
import { defined, type AfxdpInterfaceStatus, type AfxdpXdpStatus } from "@switchyard/api";
import type { Host, Link, XdpFeatures, XdpProgram } from "@switchyard/host";
import { orIfGone } from "./device-links.ts";

export type InterfaceFields = Pick<AfxdpInterfaceStatus, "mtu" | "queues" | "maxQueues" | "xdp">;

/** Rejects with HostError. An interface that has just vanished has no queues and programs. */
export async function readInterface(
  { xdp }: Host,
  { name, index, mtu, hasXdp }: Link,
  features: readonly XdpFeatures[],
): Promise<InterfaceFields> {
  const [queues, programs] = await Promise.all([
    orIfGone(() => xdp.readQueues(name), undefined),
    hasXdp ? orIfGone(() => xdp.readPrograms(name), []) : [],
  ]);
  const status = xdpStatus(
    features.find((each) => each.index === index),
    programs,
  );
  return {
    mtu,
    ...defined({ queues: queues?.count, maxQueues: queues?.max }),
    ...(Object.keys(status).length > 0 && { xdp: status }),
  };
}

function xdpStatus(features: XdpFeatures | undefined, programs: readonly XdpProgram[]): AfxdpXdpStatus {
  // A foreign program keeps pods from using the device, so it is the one to show.
  const program = programs.find(({ isOwn }) => !isOwn) ?? programs[0];
  return {
    ...(features && { native: features.native, zeroCopy: features.zeroCopy }),
    ...(program && {
      program: { id: program.id, ...defined({ name: program.name }), mode: program.mode, owned: program.isOwn },
    }),
  };
}
