// SPDX-License-Identifier: Apache-2.0
/**
 * readAwsNetworks reads the subnets of an AWS instance from its metadata service, version 2: requests need a token
 * (sriov-operator.md F.3).
 */
import { parseMacAddress } from "@switchyard/api";
import { fetchText, MetadataError } from "./fetch-text.ts";
import type { CloudNic } from "./openstack.ts";

export interface AwsSource {
  /** URL of the metadata service without a path. */
  readonly baseUrl: string;
  /** Limit of each request. */
  readonly timeoutMs: number;
}

const macsPath = "latest/meta-data/network/interfaces/macs/";

/** An instance has at most 15 network interfaces per card and a few cards. */
const mostNics = 64;

/** Rejects with MetadataError only. */
export async function readAwsNetworks({ baseUrl, timeoutMs }: AwsSource): Promise<readonly CloudNic[]> {
  const ttl = { "x-aws-ec2-metadata-token-ttl-seconds": "60" };
  const token = (await fetchText(`${baseUrl}/latest/api/token`, { method: "PUT", headers: ttl, timeoutMs })).trim();
  if (!/^[\x21-\x7e]{1,1024}$/.test(token)) throw new MetadataError(`PUT ${baseUrl}/latest/api/token: not a token`);
  const headers = { "x-aws-ec2-metadata-token": token };

  const lines = (await fetchText(`${baseUrl}/${macsPath}`, { headers, timeoutMs })).split("\n");
  const macs = lines.flatMap((line) => {
    const mac = parseMacAddress(line.trim().replace(/\/$/, ""));
    return mac.ok ? [mac.value] : [];
  });
  if (macs.length === 0) throw new MetadataError(`GET ${baseUrl}/${macsPath}: the answer has no MAC addresses`);
  const nics: CloudNic[] = [];
  for (const mac of macs.slice(0, mostNics)) {
    const url = `${baseUrl}/${macsPath}${mac}/subnet-id`;
    const subnet = /^subnet-([\w-]{1,64})$/.exec((await fetchText(url, { headers, timeoutMs })).trim())?.[1];
    if (subnet === undefined) throw new MetadataError(`GET ${url}: the answer is not the id of a subnet`);
    nics.push({ mac, netFilter: `aws/NetworkID:${subnet}` });
  }
  return nics;
}
