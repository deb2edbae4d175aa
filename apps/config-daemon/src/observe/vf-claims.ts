// SPDX-License-Identifier: Apache-2.0
/**
 * readVfClaims finds the ResourceClaims for which the DRA driver has prepared VFs. Their files are the driver's records: it writes a file
 * before it binds a VF, and removes the file after it has restored the VF. So these files are read after the drivers of the VFs:
 * a VF whose driver a claim has changed then always has its claim.
 */
import { defined, type VfClaim } from "@switchyard/api";
import { HostError, type HostFiles } from "@switchyard/host";
import { cdiDirectory, claimSpecFile, isClaimSpecFile, parseClaimSpec } from "@switchyard/render";

/**
 * Returns the claims by the PCI address of the VF; undefined if a file cannot be read, so that it is not known. A claim of `known`
 * whose file is damaged keeps its VFs: the file stays until the claim ends.
 */
export async function readVfClaims(
  files: HostFiles,
  known: ReadonlyMap<string, VfClaim> = new Map(),
): Promise<ReadonlyMap<string, VfClaim> | undefined> {
  const claims = new Map<string, VfClaim>();
  try {
    for (const name of await files.listNames(cdiDirectory)) {
      if (!isClaimSpecFile(name)) continue;
      const text = await files.readText(`${cdiDirectory}/${name}`);
      if (text === undefined) continue; // removed meanwhile
      const record = parseClaimSpec(text);
      if (record === undefined) {
        for (const [address, claim] of known) if (claimSpecFile(claim.uid) === name) claims.set(address, claim);
      }
      for (const { pciAddress, isAdmin, driver } of record?.devices ?? []) {
        if (record !== undefined && !isAdmin) claims.set(pciAddress, toVfClaim(record, driver));
      }
    }
    return claims;
  } catch (error) {
    if (error instanceof HostError) return undefined;
    throw error;
  }
}

/** As in the CRD. Kubernetes allows no longer names, but a write that the API server refuses would hide everything else. */
const limits = { namespace: 63, name: 253, uid: 64, driver: 63 };

function toVfClaim(
  { namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid: string },
  driver: string | undefined,
): VfClaim {
  return {
    namespace: namespace.slice(0, limits.namespace),
    name: name.slice(0, limits.name),
    uid: uid.slice(0, limits.uid),
    ...defined({ driver: driver?.slice(0, limits.driver) }),
  };
}
