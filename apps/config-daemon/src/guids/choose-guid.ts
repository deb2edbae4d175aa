// SPDX-License-Identifier: Apache-2.0
/**
 * chooseGuid decides which GUID an InfiniBand VF gets: that of the administrator's file, else the one that was
 * generated for it before, else a new one (sriov-operator.md F.7). A new one is recorded before it is returned.
 */
import { parseGuid, type Guid, type PciAddress } from "@switchyard/api";
import { HostError, type Host } from "@switchyard/host";
import { randomBytes } from "node:crypto";
import { randomAddress, type RandomBytes } from "../addresses/choose-macs.ts";
import { findGuid, parseGuidPool } from "./guid-pool.ts";

/** A VF and its PF. */
export interface GuidOwner {
  readonly pciAddress: PciAddress;
  /** Address of the interface of the PF: on IPoIB twenty bytes, of which the last eight are the GUID of the port. */
  readonly hardwareAddress: string;
  readonly vfId: number;
}

const path = "/etc/sriov-operator/infiniband/guids";

/** Rejects with HostError: EINVAL if the file is malformed where it can mean this PF, and with errors of the disk. */
export async function chooseGuid(
  { files, records }: Pick<Host, "files" | "records">,
  owner: GuidOwner,
  random: RandomBytes = randomBytes,
): Promise<Guid> {
  const fromFile = await readFromFile(files, owner);
  if (fromFile !== undefined) return fromFile;

  const { pciAddress, vfId } = owner;
  const record = (await records.list()).get(pciAddress);
  if (record === undefined) {
    const words = "the PF has no record";
    throw new HostError({ action: `generate GUID of VF ${vfId}`, target: pciAddress }, "ENOENT", { words });
  }
  const recorded = parseGuid(record.guids?.[vfId] ?? "");
  if (recorded.ok) return recorded.value;
  const guid = generateGuid(random);
  await records.save(pciAddress, { ...record, guids: { ...record.guids, [vfId]: guid } });
  return guid;
}

async function readFromFile(files: Host["files"], owner: GuidOwner): Promise<Guid | undefined> {
  const text = await files.readText(path);
  if (text === undefined && (await files.readKind(path)) === undefined) return undefined;
  const found =
    text === undefined
      ? { ok: false as const, error: "it is not a regular file of at most 1 MiB" }
      : findGuid(parseGuidPool(text), {
          ...owner,
          pfGuid: owner.hardwareAddress.split(":").slice(-8).join(":"),
        });
  if (found.ok) return found.value;
  throw new HostError({ action: `read GUID of VF ${owner.vfId} of ${owner.pciAddress}`, target: path }, "EINVAL", {
    words: found.error,
  });
}

/** Returns a locally administered GUID. With 62 random bits, two of a fabric are practically never equal. */
function generateGuid(random: RandomBytes): Guid {
  const guid = parseGuid(randomAddress(8, random));
  if (!guid.ok) throw new Error(`generated GUID "${guid.error.text}" is invalid`);
  return guid.value;
}
