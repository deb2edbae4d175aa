// SPDX-License-Identifier: Apache-2.0
/**
 * findWantedAttachments decides which VFs of a pod's claims the driver attaches, and by which name. It is pure. A VF is attached if its
 * configuration names a NetworkAttachmentDefinition that the pod's annotation does not name; those Multus attaches.
 */
import { err, ok, type Result } from "@switchyard/api";
import { networksAnnotation, parsePodNetworks, type AllocatedClaim } from "@switchyard/policy";
import { addressOfDevice } from "@switchyard/render";
import type { PodSandbox } from "@switchyard/nri";

/** A VF that the pod gets as an interface. */
export interface WantedAttachment {
  readonly claim: AllocatedClaim;
  /** Name of the device in the ResourceSlice. */
  readonly device: string;
  readonly pciAddress: string;
  readonly network: { readonly namespace: string; readonly name: string };
  readonly ifName: string;
}

type Pod = Pick<PodSandbox, "namespace" | "annotations">;

/** Interfaces without a name are net1, net2 and so on, after those of Multus. Two with the same name are an error. */
export function findWantedAttachments(
  pod: Pod,
  claims: readonly AllocatedClaim[],
): Result<readonly WantedAttachment[], string> {
  const ofMultus = parsePodNetworks(pod.annotations.get(networksAnnotation) ?? "", pod.namespace);
  if (ofMultus === undefined)
    return err(`annotation ${networksAnnotation} of the pod is neither a list of names nor JSON`);
  const isOfMultus = (namespace: string, name: string) =>
    ofMultus.some((network) => network.namespace === namespace && network.name === name);
  const wanted = claims.flatMap((claim) =>
    claim.devices.flatMap(({ device, isAdmin, config }) => {
      const { netAttachDefName: name, netAttachDefNamespace: namespace = claim.namespace, ifName } = config;
      const pciAddress = addressOfDevice(device);
      if (isAdmin || name === undefined || pciAddress === undefined || isOfMultus(namespace, name)) return [];
      return [{ claim, device, pciAddress, network: { namespace, name }, ifName }];
    }),
  );
  const names = new Set<string>();
  for (const { ifName } of wanted) {
    if (ifName === undefined) continue;
    if (ifName === "lo" || ifName === "eth0" || names.has(ifName)) {
      return err(`the pod would have two interfaces "${ifName}": set ifName of VfConfig`);
    }
    names.add(ifName);
  }
  let number = ofMultus.length;
  const nextName = (): string => {
    do number++;
    while (names.has(`net${number}`));
    return `net${number}`;
  };
  return ok(wanted.map(({ ifName, ...attachment }) => ({ ...attachment, ifName: ifName ?? nextName() })));
}
