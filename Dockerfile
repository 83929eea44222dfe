# syntax=docker/dockerfile:1

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json schema.graphql ./
COPY src src
COPY scripts scripts
COPY web web
RUN npm run build && npm run build:web

FROM node:24-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev

FROM node:24-slim
# tini passes signals on and reaps the processes of the embedded Postgres.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates tini \
 && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/web/dist web/dist
COPY scripts/verify-seals.mjs scripts/verify-seals.mjs
RUN mkdir /data && chown node:node /data
USER node
# The embedded Postgres and the key file; with DATABASE_URL and SECRET_KEY set it stays empty.
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/status`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "node", "--max-semi-space-size=32", "--semi-space-growth-factor=32", "--max-inlined-bytecode-size=1380", "--max-inlined-bytecode-size-cumulative=2760", "dist/main.js"]
CMD ["serve"]
