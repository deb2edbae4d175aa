// SPDX-License-Identifier: Apache-2.0
/** networkDataOf translates the result of a CNI chain into networkData of a device in the status of a claim (KEP-4817). */
import { isRecord } from "@switchyard/kube";
import { isIP } from "node:net";
import type { NetworkData } from "../claims/claim-status.ts";
import type { JsonObject } from "./cni-chain.ts";

/** The API server refuses more addresses, and longer texts (resource.k8s.io/v1, NetworkDeviceData). */
const limits = { ips: 16, hardwareAddress: 128 };

/** What is not an address is left out, because the API server would refuse the whole status. */
export function networkDataOf(result: JsonObject, ifName: string): NetworkData {
  const list = (field: string): readonly JsonObject[] => {
    const found = result[field];
    return Array.isArray(found) ? found.filter(isRecord) : [];
  };
  const own = list("interfaces").find(
    ({ name, sandbox }) => name === ifName && sandbox !== "" && sandbox !== undefined,
  );
  const mac = own?.["mac"];
  const ips = list("ips")
    .map(({ address }) => address)
    .filter((address) => typeof address === "string")
    .filter(isAddressWithPrefix);
  return {
    interfaceName: ifName,
    ips: [...new Set(ips)].slice(0, limits.ips),
    ...(typeof mac === "string" && mac !== "" && mac.length <= limits.hardwareAddress && { hardwareAddress: mac }),
  };
}

function isAddressWithPrefix(text: string): boolean {
  const [address = "", prefix = "", ...more] = text.split("/");
  const version = isIP(address);
  return more.length === 0 && version !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}
