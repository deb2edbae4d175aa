// SPDX-License-Identifier: Apache-2.0
/**
 * simulateHosts does for nodes with SmartNICs what their config daemons do: it reports PFs, VFs and the mode of the card in the status
 * of each SriovNetworkNodeState, according to its spec. The host itself is a few fields, which a test changes.
 */
import { sriovNetworkNodeStates, type CardMode, type SriovNetworkNodeState } from "@switchyard/api";
import { listPages, objectPath, type Transport } from "@switchyard/kube";
import { namespace } from "@switchyard/test-cluster";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";

export interface SimulatedHost {
  /** PCI device ID of each SmartNIC: "a2d6" is a BlueField-2. */
  cards: readonly string[];
  /** Slot of the first SmartNIC, which gives PFs their names and PCI addresses; 1 by default. */
  slot?: number;
  mode: CardMode;
  /** Whether the host booted with the MachineConfig of ovn-offload. A test sets it at a reboot. */
  isOffloaded: boolean;
}

const everyMs = 100;

/** Plays the nodes in `hosts`, which may change. Disposing it ends the reports. */
export function simulateHosts({
  transport,
  hosts,
}: {
  readonly transport: Transport;
  readonly hosts: ReadonlyMap<string, SimulatedHost>;
}): AsyncDisposable {
  const end = new AbortController();
  const { signal } = end;
  const rounds = runRounds();

  async function runRounds(): Promise<void> {
    while (!signal.aborted) {
      // A state that changed or disappeared is reported in the next round.
      await playRound().catch(() => undefined);
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async function playRound(): Promise<void> {
    for await (const { items } of listPages(transport, { type: sriovNetworkNodeStates, namespace, signal })) {
      for (const state of items as readonly SriovNetworkNodeState[]) {
        const host = hosts.get(state.metadata.name);
        if (host === undefined) continue;
        const status = statusOf(host, state);
        if (isDeepStrictEqual({ ...state.status, ...status }, state.status)) continue;
        await transport.request({
          method: "PATCH",
          path: objectPath(sriovNetworkNodeStates, state.metadata, "status"),
          signal,
          body: { status },
          contentType: "application/merge-patch+json",
        });
      }
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      end.abort();
      await rounds;
    },
  };
}

function statusOf(
  { cards, slot = 1, mode, isOffloaded }: SimulatedHost,
  { metadata, spec = {} }: SriovNetworkNodeState,
) {
  const byDaemon = spec.system?.openVSwitchDisabled === true;
  const numVfsOf = (pciAddress: string) => spec.interfaces?.find((one) => one.pciAddress === pciAddress)?.numVfs ?? 0;
  const smartNics = cards.flatMap((deviceID, at) =>
    [0, 1].map((port) => {
      const place = slot + at;
      const pciAddress = `0000:${place + 2}b:00.${port}`;
      const numVfs = numVfsOf(pciAddress);
      return {
        pciAddress,
        vendor: "15b3",
        deviceID,
        driver: "mlx5_core",
        name: `ens${place}f${port}np${port}`,
        linkType: "ETH",
        mtu: 1500,
        totalvfs: 16,
        numVfs,
        cardMode: { current: mode },
        Vfs: Array.from({ length: numVfs }, (_, vfID) => ({
          vfID,
          pciAddress: `0000:${place + 2}b:0${port + 1}.${vfID % 8}`,
          driver: "mlx5_core",
          name: vfID === 0 && port === 0 && (isOffloaded || byDaemon) ? "ovnmgmt0" : `ens${place}f${port}v${vfID}`,
        })),
      };
    }),
  );
  const plain = { pciAddress: "0000:01:00.0", vendor: "8086", deviceID: "1572", driver: "i40e", name: "eno1" };
  return {
    interfaces: [plain, ...smartNics],
    syncStatus: "Succeeded",
    observedGeneration: metadata.generation ?? 0,
    system: { openVSwitchDisabled: byDaemon, hostNetwork: {} },
  };
}
