// SPDX-License-Identifier: Apache-2.0
/**
 * writeRequest writes a request for a drain. One for single VFs is first announced, and written once these VFs are withheld
 * (withheld-vfs.ts). All state is in the annotations: a daemon that is killed in between announces the same VFs again and goes on.
 */
import { isKubeError, type Transport } from "@switchyard/kube";
import { drainedVfs, formatVfSet, type HeldVfs, type VfSet } from "@switchyard/policy";
import type { DrainRequest } from "@switchyard/api";
import { announceVfs, requestDrain, requestOf, type DrainCarrier } from "./drain-request.ts";
import type { DrainChange } from "./run-rounds.ts";
import type { Preparation, WithheldVfs } from "./withheld-vfs.ts";

export interface WriteRequestOptions {
  readonly carrier: DrainCarrier;
  /** The last report. */
  readonly found: HeldVfs;
  readonly transport: Transport;
  /** Absent where the kubelet cannot be asked. Then all drains are drains of the node. */
  readonly withheldVfs: WithheldVfs | undefined;
  /** Called before a request is written. */
  readonly onRequest: (request: DrainRequest) => void;
  readonly signal: AbortSignal;
}

/** Rejects with KubeError. */
export async function writeRequest(
  { request, vfs }: Exclude<DrainChange, "withdraw">,
  options: WriteRequestOptions,
): Promise<void> {
  const { carrier, transport, signal } = options;
  const isNew = request === "Drain_Required" && requestOf(carrier) !== request;
  const preparation = isNew && vfs !== undefined ? await prepare(vfs, options) : "ready";
  if (preparation === "wait") return;
  options.onRequest(request);
  await requestDrain(request, carrier, transport, signal, preparation === "ready" ? vfs : undefined);
}

/** It is ready only once the state shows the VFs: whoever offers them has then been told, too. */
async function prepare(vfs: VfSet, options: WriteRequestOptions): Promise<Preparation> {
  const { carrier, found, transport, withheldVfs, signal } = options;
  const preparation = (await withheldVfs?.prepare(vfs, found, signal)) ?? "impossible";
  if (preparation === "impossible" || isAnnounced(vfs, carrier)) return preparation;
  try {
    await announceVfs(vfs, carrier, transport, signal);
  } catch (error) {
    // An operator of an older release does not allow the daemon to write the annotation.
    if (isKubeError(error, "Forbidden", "Invalid")) return "impossible";
    throw error;
  }
  return "wait";
}

function isAnnounced(vfs: VfSet, carrier: DrainCarrier): boolean {
  const announced = drainedVfs(carrier);
  return announced !== undefined && formatVfSet(announced) === formatVfSet(vfs);
}
