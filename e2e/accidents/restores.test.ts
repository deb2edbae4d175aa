// SPDX-License-Identifier: Apache-2.0
/** Accidents of backup and release tools, on nodes that have devices for AF_XDP, too. */
import { mlx5 } from "@switchyard/host/testing";
import { playAccidents } from "./play-accidents.ts";
import { restores } from "./restores.ts";

playAccidents(restores, { nics: [mlx5("0000:86:00.0", { ports: 1 })] });
