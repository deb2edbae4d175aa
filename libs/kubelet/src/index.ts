// SPDX-License-Identifier: Apache-2.0
/** The kubelet's APIs for device plugins, dynamic resource allocation and pod resources, over gRPC on Unix sockets. */
export type { sendUnaryData, ServerWritableStream } from "@grpc/grpc-js";
export { callGrpc, grpcMethod, type Codec, type Empty, serveGrpc, type GrpcService } from "./grpc/grpc.ts";
export {
  devicePluginMethods,
  devicePluginVersion,
  registerMethod,
  type ContainerAllocation,
  type Mount,
  type PluginDevice,
  type PreferenceRequest,
} from "./device-plugin-messages.ts";
export {
  type ClaimedDevice,
  type ContainerDevices,
  type PodDevices,
  type ResourceDevices,
} from "./pod-resources-messages.ts";
export type { DraDeviceHealth } from "./dra/dra-health-messages.ts";
export type { ClaimRef, PrepareAnswer, PrepareAnswers, PreparedDevice, UnprepareAnswers } from "./dra/dra-messages.ts";
export { serveDraPlugin, type DraPlugin, type DraPluginOptions } from "./dra/serve-dra-plugin.ts";
export {
  createPodResources,
  type OfferedList,
  type PodList,
  type PodResources,
  type ReadOptions,
} from "./pod-resources.ts";
export {
  heldDevicesIn,
  kubeletError,
  readOfferedDevices,
  type DeviceHolder,
  type DevicesByResource,
} from "./read-devices.ts";
export {
  createHoldersReader,
  mayLackPods,
  type HoldersReader,
  type HoldersReaderOptions,
  type KnownHolders,
  type PodName,
} from "./holders-reader.ts";
export { createPodUids, type HoldersById, type PodUids } from "./pod-uids.ts";
export { MessageWriter, readMessage, type MessageReader } from "./protobuf/protobuf.ts";
export { identityOf, watchSockets, type SocketWatch } from "./watch-sockets.ts";
