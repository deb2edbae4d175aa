// SPDX-License-Identifier: Apache-2.0
/**
 * createAttachmentFiles keeps which interfaces the driver has attached to pods, one file for each, in /var/lib/cni/switchyard of the host.
 * The file is written before the first plugin runs and removed after the last one, and has the configuration with which the interface
 * was added. It survives a reboot, because addresses that plugins have reserved do, too.
 */
import { isInterfaceName, parsePciAddress } from "@switchyard/api";
import type { HostFiles } from "@switchyard/host";
import { isRecord } from "@switchyard/kube";
import { parseObject, type JsonObject } from "./cni-chain.ts";
import { parseSandbox, type Sandbox } from "./parse-sandbox.ts";

/** An interface of a pod sandbox. */
export interface Attachment extends Required<Sandbox> {
  readonly ifName: string;
  readonly pciAddress: string;
  /** Uid of the claim, and the device of the claim. */
  readonly claim: string;
  readonly device: string;
  /** Name of the NetworkAttachmentDefinition, and its configuration at that time. */
  readonly network: string;
  readonly config: string;
  /** What the plugins said; absent if they have not ended. */
  readonly result?: JsonObject;
  /** Whether the pod has ended, and the interface could not be deleted. */
  readonly isStopped?: boolean;
}

/** All methods reject with HostError. */
export interface AttachmentFiles {
  /** A file that is not a record is left out. */
  list(): Promise<readonly Attachment[]>;
  write(attachment: Attachment): Promise<void>;
  remove(attachment: Attachment): Promise<void>;
}

const directory = "/var/lib/cni/switchyard";

export function createAttachmentFiles(files: HostFiles): AttachmentFiles {
  return {
    async list() {
      const names = (await files.listNames(directory)).filter((name) => name.endsWith(".json"));
      const texts = await Promise.all(names.map((name) => files.readText(`${directory}/${name}`)));
      return texts.map((text) => parseAttachment(text ?? "")).filter((attachment) => attachment !== undefined);
    },
    write: (attachment) => files.writeText(pathOf(attachment), `${JSON.stringify(attachment)}\n`),
    remove: (attachment) => files.remove(pathOf(attachment)),
  };
}

function pathOf({ id, ifName }: Attachment): string {
  return `${directory}/${id}_${ifName}.json`;
}

function parseAttachment(text: string): Attachment | undefined {
  const value = parseObject(text);
  if (value === undefined || !isRecord(value["pod"])) return undefined;
  const { id, networkNamespace, ifName, pciAddress, claim, device, network, config, result, isStopped } = value;
  const { namespace, name, uid } = value["pod"];
  const texts = [id, namespace, name, uid, networkNamespace, ifName, pciAddress, claim, device, network, config];
  if (!texts.every((each) => typeof each === "string")) return undefined;
  const sandbox = parseSandbox({
    id: String(id),
    namespace: String(namespace),
    name: String(name),
    uid: String(uid),
    annotations: new Map(),
    networkNamespace: String(networkNamespace),
  });
  const address = parsePciAddress(String(pciAddress));
  if (!sandbox.ok || sandbox.value.networkNamespace === undefined || !address.ok || !isInterfaceName(String(ifName))) {
    return undefined;
  }
  return {
    ...sandbox.value,
    networkNamespace: sandbox.value.networkNamespace,
    ifName: String(ifName),
    pciAddress: address.value,
    ...{ claim: String(claim), device: String(device), network: String(network), config: String(config) },
    ...(isRecord(result) && { result }),
    ...(isStopped === true && { isStopped }),
  };
}
