// SPDX-License-Identifier: Apache-2.0
/**
 * The messages of the kubelet's pod resources API v1 (k8s.io/kubelet/pkg/apis/podresources/v1/api.proto), as far as they are used.
 * Usage: `const pods = await callGrpc(listPodResourcesMethod, {}, target);`
 */
import { empty, grpcMethod, type Codec } from "./grpc/grpc.ts";
import { MessageWriter, readMessage, type MessageReader } from "./protobuf/protobuf.ts";

/** A pod and the devices of its containers. */
export interface PodDevices {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly ContainerDevices[];
}

export interface ContainerDevices {
  readonly name: string;
  readonly devices: readonly ResourceDevices[];
  /** Devices of ResourceClaims; absent if there are none. */
  readonly claimed?: readonly ClaimedDevice[];
}

/** A device of a ResourceClaim (dynamic resource allocation), which the kubelet lists since Kubernetes 1.27. */
export interface ClaimedDevice {
  /** Name of the claim, which is in the namespace of the pod. */
  readonly claim: string;
  readonly driver: string;
  readonly pool: string;
  readonly device: string;
}

/** Devices of one resource. The kubelet may list the devices of a resource in several parts. */
export interface ResourceDevices {
  readonly resourceName: string;
  readonly ids: readonly string[];
}

const resources: Codec<readonly ResourceDevices[]> = {
  encode: (list) =>
    new MessageWriter()
      .messages(
        1,
        list.map(({ resourceName, ids }) => new MessageWriter().text(1, resourceName).texts(2, ids)),
      )
      .finish(),
  decode: (bytes) =>
    readMessage(bytes)
      .messages(1)
      .map(({ text, texts }) => ({ resourceName: text(1), ids: texts(2) })),
};

const pods: Codec<readonly PodDevices[]> = {
  encode: (list) =>
    new MessageWriter()
      .messages(
        1,
        list.map(({ name, namespace, containers }) =>
          new MessageWriter().text(1, name).text(2, namespace).messages(3, containers.map(writeContainer)),
        ),
      )
      .finish(),
  decode: (bytes) =>
    readMessage(bytes)
      .messages(1)
      .map((pod) => ({
        name: pod.text(1),
        namespace: pod.text(2),
        containers: pod.messages(3).map(readContainer),
      })),
};

function writeContainer({ name, devices, claimed = [] }: ContainerDevices): MessageWriter {
  return new MessageWriter()
    .text(1, name)
    .messages(
      2,
      devices.map(({ resourceName, ids }) => new MessageWriter().text(1, resourceName).texts(2, ids)),
    )
    .messages(
      5,
      claimed.map(({ claim, driver, pool, device }) =>
        new MessageWriter()
          .text(2, claim)
          .message(4, new MessageWriter().text(2, driver).text(3, pool).text(4, device)),
      ),
    );
}

function readContainer({ text, messages }: MessageReader): ContainerDevices {
  const claimed = messages(5).flatMap((claim) =>
    claim.messages(4).map((device) => ({
      claim: claim.text(2),
      driver: device.text(2),
      pool: device.text(3),
      device: device.text(4),
    })),
  );
  return {
    name: text(1),
    devices: messages(2).map((list) => ({ resourceName: list.text(1), ids: list.texts(2) })),
    ...(claimed.length > 0 && { claimed }),
  };
}

/** Lists the pods of the node that have been admitted and have not ended, with their devices. */
export const listPodResourcesMethod = grpcMethod("/v1.PodResourcesLister/List", empty, pods);

/** Lists the healthy devices of the node that plugins announce, whether pods have them or not. */
export const allocatableResourcesMethod = grpcMethod(
  "/v1.PodResourcesLister/GetAllocatableResources",
  empty,
  resources,
);
