// SPDX-License-Identifier: Apache-2.0
/**
 * The messages by which a plugin registers with the kubelet's plugin watcher (k8s.io/kubelet/pkg/apis/pluginregistration/v1, 1.36). The
 * plugin is the server: the kubelet finds its socket in plugins_registry and calls it.
 * Usage: `const { name } = await callGrpc(pluginRegistrationMethods.getInfo, {}, target);`
 */
import { empty, grpcMethod, type Codec } from "../grpc/grpc.ts";
import { MessageWriter, readMessage } from "../protobuf/protobuf.ts";

/** What a plugin is, and where it serves. */
export interface PluginInfo {
  /** "DRAPlugin" for drivers of dynamic resource allocation. */
  readonly type: string;
  /** Name of the driver. */
  readonly name: string;
  /** Path of the socket of the service, as the kubelet sees it. */
  readonly endpoint: string;
  /** gRPC services: "v1.DRAPlugin". */
  readonly supportedVersions: readonly string[];
}

/** Whether the kubelet has registered the plugin. */
export interface RegistrationStatus {
  readonly isRegistered: boolean;
  /** Why it has not; "" otherwise. */
  readonly error: string;
}

const pluginInfo: Codec<PluginInfo> = {
  encode: ({ type, name, endpoint, supportedVersions }) =>
    new MessageWriter().text(1, type).text(2, name).text(3, endpoint).texts(4, supportedVersions).finish(),
  decode(bytes) {
    const { text, texts } = readMessage(bytes);
    return { type: text(1), name: text(2), endpoint: text(3), supportedVersions: texts(4) };
  },
};

const registrationStatus: Codec<RegistrationStatus> = {
  encode: ({ isRegistered, error }) => new MessageWriter().boolean(1, isRegistered).text(2, error).finish(),
  decode(bytes) {
    const { number, text } = readMessage(bytes);
    return { isRegistered: number(1) !== 0, error: text(2) };
  },
};

/** The methods that the kubelet calls on the socket in plugins_registry. */
export const pluginRegistrationMethods = {
  getInfo: grpcMethod("/pluginregistration.Registration/GetInfo", empty, pluginInfo),
  notifyRegistrationStatus: grpcMethod(
    "/pluginregistration.Registration/NotifyRegistrationStatus",
    registrationStatus,
    empty,
  ),
};
