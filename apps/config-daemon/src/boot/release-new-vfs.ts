// SPDX-License-Identifier: Apache-2.0
/**
 * releaseNewVfs unbinds the drivers of VFs that the first phase of a boot has created, as the Go operator does
 * (sriov-operator.md F.6): a network service that starts next must not find their interfaces. The second phase binds them.
 * Usage: `await releaseNewVfs(spec, new Set(["0000:3b:00.0"]), host, log);`
 */
import { parsePciAddress, type SriovNetworkNodeStateSpec } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";

/** VFs that existed before are not touched: pods may use them if an administrator starts the phase on a running node. */
export async function releaseNewVfs(
  { interfaces = [] }: SriovNetworkNodeStateSpec,
  created: ReadonlySet<string>,
  { sriov }: Pick<Host, "sriov">,
  log: (line: string) => void,
): Promise<void> {
  for (const { pciAddress, externallyManaged } of interfaces) {
    const pf = parsePciAddress(pciAddress);
    if (!pf.ok || externallyManaged === true || !created.has(pciAddress)) continue;
    const facts = await sriov.readPf(pf.value);
    for (const vf of facts?.sriov?.vfs ?? []) {
      if (vf.driver === undefined) continue;
      try {
        await sriov.unbindDriver(vf.pciAddress);
      } catch (error) {
        if (!(error instanceof HostError)) throw error;
        log(error.message); // The second phase configures the VF with or without this.
      }
    }
  }
}
