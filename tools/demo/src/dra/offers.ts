// SPDX-License-Identifier: Apache-2.0
/**
 * watchOffers looks until its end who offers the VFs of nodes: the device plugin, ResourceSlices, or both, which must never be.
 */
import { resourceSlices, type ResourceSlice } from "@switchyard/api";
import { collectionPath, type Transport } from "@switchyard/kube";
import { addressOfDevice } from "@switchyard/render";

export interface OffersOptions {
  readonly transport: Transport;
  readonly nodeName: string;
  /** Returns the PCI addresses of the VFs that the device plugin offers now. */
  readonly offeredByPlugin: () => Promise<ReadonlySet<string>>;
}

/** PCI addresses of VFs by who offers them. */
export interface Offers {
  readonly plugin: ReadonlySet<string>;
  readonly slices: ReadonlySet<string>;
  /** In slices and offered by the plugin, before and after the slices were read. */
  readonly both: readonly string[];
}

/** Rejects with KubeError. */
async function sampleOffers({ transport, nodeName, offeredByPlugin }: OffersOptions): Promise<Offers> {
  const before = await offeredByPlugin();
  const path = collectionPath(resourceSlices);
  const query = { fieldSelector: `spec.nodeName=${nodeName}` };
  const listed = (await transport.request({ method: "GET", path, query })) as {
    readonly items: readonly ResourceSlice[];
  };
  const plugin = await offeredByPlugin();
  const devices = listed.items.flatMap(({ spec }) => spec.devices);
  const slices = new Set(devices.flatMap(({ name }) => addressOfDevice(name) ?? []));
  return { plugin, slices, both: [...slices].filter((vf) => before.has(vf) && plugin.has(vf)) };
}

/** What was seen of all nodes. */
export interface OfferWatch extends AsyncDisposable {
  readonly moments: number;
  /** VFs that were offered twice, as "worker-1 0000:3b:02.0". */
  readonly violations: ReadonlySet<string>;
}

/** Samples all nodes one after the other, with pauses, until the result is disposed. */
export function watchOffers(
  nodes: readonly OffersOptions[],
  { everyMs = 100 }: { readonly everyMs?: number } = {},
): OfferWatch {
  const violations = new Set<string>();
  let moments = 0;
  let isEnding = false;
  async function run(): Promise<void> {
    while (!isEnding) {
      for (const node of nodes) {
        const { both } = await sampleOffers(node);
        moments++;
        for (const vf of both) violations.add(`${node.nodeName} ${vf}`);
      }
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }
  const running = run().catch((error: unknown) => void violations.add(`not seen: ${String(error)}`));
  return {
    get moments() {
      return moments;
    },
    violations,
    async [Symbol.asyncDispose]() {
      isEnding = true;
      await running;
    },
  };
}
