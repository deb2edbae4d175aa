// SPDX-License-Identifier: Apache-2.0
/**
 * The messages by which a driver of dynamic resource allocation tells the kubelet the health of its devices
 * (k8s.io/kubelet/pkg/apis/dra-health/v1alpha1, 1.36). The kubelet shows it in the status of pods (KEP-4680).
 */
import { empty, grpcMethod, type Codec } from "../grpc/grpc.ts";
import { MessageWriter, readMessage } from "../protobuf/protobuf.ts";

/** The health of one device. */
export interface DraDeviceHealth {
  readonly pool: string;
  readonly device: string;
  readonly health: "unknown" | "healthy" | "unhealthy";
  /** Unix time in seconds. */
  readonly atSeconds: number;
  /** The kubelet takes the device for unknown if nothing is reported for so long. It has 30 s by default. */
  readonly timeoutSeconds: number;
  /** At most 1,024 characters; "" without a message. */
  readonly message: string;
}

/** Numbers of the enumeration HealthStatus. */
const healthNumbers = ["unknown", "healthy", "unhealthy"] as const;

const health: Codec<readonly DraDeviceHealth[]> = {
  encode: (devices) =>
    new MessageWriter()
      .messages(
        1,
        devices.map(({ pool, device, health: state, atSeconds, timeoutSeconds, message }) =>
          new MessageWriter()
            .message(1, new MessageWriter().text(1, pool).text(2, device))
            .number(2, healthNumbers.indexOf(state))
            .number(3, atSeconds)
            .number(4, timeoutSeconds)
            .text(5, message),
        ),
      )
      .finish(),
  decode: (bytes) =>
    readMessage(bytes)
      .messages(1)
      .map(({ messages, number, text }) => {
        const [identifier] = messages(1);
        return {
          pool: identifier?.text(1) ?? "",
          device: identifier?.text(2) ?? "",
          health: healthNumbers[number(2)] ?? "unknown",
          atSeconds: number(3),
          timeoutSeconds: number(4),
          message: text(5),
        };
      }),
};

/** The kubelet keeps one stream open. Each response lists all devices of the driver. */
export const draHealthMethods = {
  nodeWatchResources: grpcMethod("/v1alpha1.DRAResourceHealth/NodeWatchResources", empty, {
    ...health,
    isStream: true,
  }),
};
