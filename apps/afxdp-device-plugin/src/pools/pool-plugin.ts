// SPDX-License-Identifier: Apache-2.0
/** createPoolPlugin is the device plugin of one pool: the gRPC methods that the kubelet calls. */
import { status, type sendUnaryData, type ServerUnaryCall, type ServerWritableStream } from "@grpc/grpc-js";
import {
  devicePluginMethods,
  type ContainerAllocation,
  type Empty,
  type GrpcService,
  type PluginDevice,
  type PreferenceRequest,
} from "@switchyard/kubelet";

export interface PoolPluginOptions {
  /** Prepares the devices for a container. The message of an error becomes that of the pod's event. */
  readonly allocate: (devices: readonly string[]) => Promise<ContainerAllocation>;
  /** Called with the error of each call that failed. */
  readonly failed: (error: unknown) => void;
}

export interface PoolPlugin {
  readonly service: Omit<GrpcService, "path">;
  readonly devices: () => readonly PluginDevice[];
  /** Sends the devices to the kubelet if they differ from those before. */
  setDevices(devices: readonly PluginDevice[]): void;
}

type DeviceStream = ServerWritableStream<Empty, readonly PluginDevice[]>;

export function createPoolPlugin({ allocate, failed }: PoolPluginOptions): PoolPlugin {
  const streams = new Set<DeviceStream>();
  let devices: readonly PluginDevice[] = [];

  async function allocateAll(containers: readonly (readonly string[])[]): Promise<readonly ContainerAllocation[]> {
    const allocations: ContainerAllocation[] = [];
    for (const requested of containers) {
      const unknown = requested.find((id) => !devices.some((device) => device.id === id));
      if (unknown !== undefined) throw new Error(`device "${unknown}" is not in the pool`);
      allocations.push(await allocate([...requested].sort()));
    }
    return allocations;
  }

  const handlers = {
    getDevicePluginOptions(_call: unknown, respond: sendUnaryData<{ readonly hasPreferences: boolean }>) {
      respond(null, { hasPreferences: true });
    },
    listAndWatch(stream: DeviceStream) {
      streams.add(stream);
      const forget = (): void => {
        streams.delete(stream);
      };
      stream.on("cancelled", forget).on("close", forget).on("error", forget);
      stream.write(devices);
    },
    getPreferredAllocation(
      { request }: ServerUnaryCall<readonly PreferenceRequest[], readonly (readonly string[])[]>,
      respond: sendUnaryData<readonly (readonly string[])[]>,
    ) {
      respond(
        null,
        request.map((one) => preferDevices(one, devices)),
      );
    },
    allocate(
      { request }: ServerUnaryCall<readonly (readonly string[])[], readonly ContainerAllocation[]>,
      respond: sendUnaryData<readonly ContainerAllocation[]>,
    ) {
      allocateAll(request).then(
        (allocations) => {
          respond(null, allocations);
        },
        (error: unknown) => {
          failed(error);
          const details = error instanceof Error ? error.message : String(error);
          respond({ code: status.FAILED_PRECONDITION, details });
        },
      );
    },
  };

  function end(): void {
    for (const stream of streams) stream.end();
    streams.clear();
  }

  return {
    service: { methods: devicePluginMethods, handlers, end },
    devices: () => devices,
    setDevices(next) {
      if (JSON.stringify(next) === JSON.stringify(devices)) return;
      devices = next;
      for (const stream of streams) stream.write(devices);
    },
  };
}

/**
 * preferDevices chooses devices for a container: those that it must have, then as many as possible of one NUMA node.
 * Returns `count` devices, or all that are available.
 */
export function preferDevices(
  { available, required, count }: PreferenceRequest,
  devices: readonly PluginDevice[],
): readonly string[] {
  const nodeOf = new Map(devices.map(({ id, numaNode }) => [id, numaNode]));
  const free = available.filter((id) => !required.includes(id)).sort();
  const freeOn = (node: number | undefined): number => free.filter((id) => nodeOf.get(id) === node).length;
  const missing = Math.max(count - required.length, 0);
  const requiredNodes = new Set(required.map((id) => nodeOf.get(id)));

  // First the nodes of required devices, then the smallest node that has enough, so that large requests still find room.
  const rank = (node: number | undefined): number => {
    if (requiredNodes.has(node)) return -1;
    const room = freeOn(node);
    return room >= missing ? room : 2 * free.length - room;
  };
  const order = [...new Set(free.map((id) => nodeOf.get(id)))].sort((a, b) => rank(a) - rank(b));
  return [...required, ...order.flatMap((node) => free.filter((id) => nodeOf.get(id) === node)).slice(0, missing)];
}
