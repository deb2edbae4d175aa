// SPDX-License-Identifier: Apache-2.0
/**
 * The messages of the kubelet's device plugin API v1beta1 (k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/api.proto), as far as the
 * plugin and its tests use them.
 * Usage: `await callGrpc(registerMethod, { version: devicePluginVersion, endpoint, resourceName }, target)`.
 */
import { empty, grpcMethod, type Codec } from "./grpc/grpc.ts";
import { MessageWriter, readMessage } from "./protobuf/protobuf.ts";

/** Version that a plugin registers with. */
export const devicePluginVersion = "v1beta1";

/** Announces a resource to the kubelet. */
export interface Registration {
  readonly version: string;
  /** Name of the plugin's socket in the directory of the kubelet's socket. */
  readonly endpoint: string;
  readonly resourceName: string;
}

/** A device as the kubelet sees it. */
export interface PluginDevice {
  readonly id: string;
  readonly isHealthy: boolean;
  /** Absent if it has none, or if it is hidden. */
  readonly numaNode?: number;
}

/** The kubelet asks which of the available devices to give to a container. */
export interface PreferenceRequest {
  readonly available: readonly string[];
  readonly required: readonly string[];
  readonly count: number;
}

/** What a container gets with its devices. */
export interface ContainerAllocation {
  readonly environment: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
}

export interface Mount {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly isReadOnly: boolean;
}

const registration: Codec<Registration> = {
  encode: ({ version, endpoint, resourceName }) => {
    const options = new MessageWriter().boolean(2, true); // get_preferred_allocation_available
    return new MessageWriter().text(1, version).text(2, endpoint).text(3, resourceName).message(4, options).finish();
  },
  decode(bytes) {
    const { text } = readMessage(bytes);
    return { version: text(1), endpoint: text(2), resourceName: text(3) };
  },
};

const options: Codec<{ readonly hasPreferences: boolean }> = {
  encode: ({ hasPreferences }) => new MessageWriter().boolean(2, hasPreferences).finish(),
  decode: (bytes) => ({ hasPreferences: readMessage(bytes).number(2) !== 0 }),
};

const health = { true: "Healthy", false: "Unhealthy" } as const;

const devices: Codec<readonly PluginDevice[]> = {
  encode: (list) =>
    new MessageWriter()
      .messages(
        1,
        list.map(({ id, isHealthy, numaNode }) => {
          const device = new MessageWriter().text(1, id).text(2, health[`${isHealthy}`]);
          const node = (id: number) => new MessageWriter().message(1, new MessageWriter().number(1, id));
          return numaNode === undefined ? device : device.message(3, node(numaNode));
        }),
      )
      .finish(),
  decode: (bytes) =>
    readMessage(bytes)
      .messages(1)
      .map((device) => {
        const numaNode = device.messages(3)[0]?.messages(1)[0]?.number(1);
        const isHealthy = device.text(2) === health.true;
        return { id: device.text(1), isHealthy, ...(numaNode !== undefined && { numaNode }) };
      }),
};

const preferenceRequests: Codec<readonly PreferenceRequest[]> = {
  encode: (requests) =>
    new MessageWriter()
      .messages(
        1,
        requests.map(({ available, required, count }) =>
          new MessageWriter().texts(1, available).texts(2, required).number(3, count),
        ),
      )
      .finish(),
  decode: (bytes) =>
    readMessage(bytes)
      .messages(1)
      .map(({ texts, number }) => ({ available: texts(1), required: texts(2), count: number(3) })),
};

/** One list of device ids for each container. */
const deviceLists: Codec<readonly (readonly string[])[]> = {
  encode: (lists) =>
    new MessageWriter()
      .messages(
        1,
        lists.map((ids) => new MessageWriter().texts(1, ids)),
      )
      .finish(),
  decode: (bytes) =>
    readMessage(bytes)
      .messages(1)
      .map(({ texts }) => texts(1)),
};

const allocations: Codec<readonly ContainerAllocation[]> = {
  encode: (list) =>
    new MessageWriter()
      .messages(
        1,
        list.map(({ environment, mounts }) =>
          new MessageWriter()
            .messages(
              1,
              Object.entries(environment).map(([key, value]) => new MessageWriter().text(1, key).text(2, value)),
            )
            .messages(
              2,
              mounts.map(({ containerPath, hostPath, isReadOnly }) =>
                new MessageWriter().text(1, containerPath).text(2, hostPath).boolean(3, isReadOnly),
              ),
            ),
        ),
      )
      .finish(),
  decode: (bytes) =>
    readMessage(bytes)
      .messages(1)
      .map(({ messages }) => ({
        environment: Object.fromEntries(messages(1).map(({ text }) => [text(1), text(2)] as const)),
        mounts: messages(2).map(({ text, number }) => ({
          containerPath: text(1),
          hostPath: text(2),
          isReadOnly: number(3) !== 0,
        })),
      })),
};

/** The method by which a plugin registers. */
export const registerMethod = grpcMethod("/v1beta1.Registration/Register", registration, empty);

/** The methods of a plugin, which the kubelet calls. PreStartContainer is only called for plugins that ask for it. */
export const devicePluginMethods = {
  getDevicePluginOptions: grpcMethod("/v1beta1.DevicePlugin/GetDevicePluginOptions", empty, options),
  listAndWatch: grpcMethod("/v1beta1.DevicePlugin/ListAndWatch", empty, { ...devices, isStream: true }),
  getPreferredAllocation: grpcMethod("/v1beta1.DevicePlugin/GetPreferredAllocation", preferenceRequests, deviceLists),
  allocate: grpcMethod("/v1beta1.DevicePlugin/Allocate", deviceLists, allocations),
};
