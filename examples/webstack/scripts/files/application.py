#!/usr/bin/python3
"""Counts visits in the database; the cache keeps their sum for a second. /health says whether requests are welcome."""
import queue
import signal
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg2
import yaml
from pymemcache.client.base import Client
from pymemcache.exceptions import MemcacheError

VERSION = '1.0'
NAME = socket.gethostname()
# A request waits so long for a database, as while another one becomes the primary.
PATIENCE_SECONDS = 25
# The balancers notice in this time that this server leaves.
FAREWELL_SECONDS = 3
PASSWORD = open('/etc/webstack/password').read().strip()
with open('/opt/webstack/data.yaml') as file:
    DATA = yaml.safe_load(file)
idle = queue.LifoQueue()
leaving = threading.Event()


def connect():
    connection = psycopg2.connect(
        host=','.join(DATA['databases']), target_session_attrs='read-write',
        dbname='webstack', user='webstack', password=PASSWORD, connect_timeout=2,
    )
    connection.autocommit = True
    return connection


def ask(statement, values=()):
    """One row of the primary, whichever server that is."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            try:
                connection = idle.get_nowait()
            except queue.Empty:
                connection = connect()
            with connection.cursor() as cursor:
                cursor.execute(statement, values)
                row = cursor.fetchone() if cursor.description else None
            idle.put(connection)
            return row
        except psycopg2.Error as error:
            print(f'the database: {error}', flush=True)
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def total():
    for address in DATA['caches']:
        try:
            cache = Client((address, 11211), connect_timeout=1, timeout=1)
            known = cache.get('visits')
            if known is None:
                known = ask('SELECT count(*) FROM visits')[0]
                cache.set('visits', known, expire=1)
            cache.close()
            return int(known)
        except (OSError, MemcacheError):
            continue
    return ask('SELECT count(*) FROM visits')[0]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        status = 200
        try:
            if self.path == '/health':
                status, text = (503, 'leaving') if leaving.is_set() else (200, 'well')
            elif self.path == '/visits':
                text = f'{total()} visits'
            else:
                number = ask('INSERT INTO visits (app) VALUES (%s) RETURNING id', (NAME,))[0]
                text = f'webstack {VERSION} on {NAME}: visit {number}'
        except psycopg2.Error as error:
            status, text = 503, f'{NAME} has no database: {error}'
        body = f'{text}\n'.encode()
        self.send_response(status)
        self.send_header('Content-Type', 'text/plain')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    # Closing waits for the requests under way.
    daemon_threads = False


def leave(*_):
    if not leaving.is_set():
        leaving.set()
        threading.Timer(FAREWELL_SECONDS, server.shutdown).start()


while True:
    try:
        ask('CREATE TABLE IF NOT EXISTS visits (id bigserial PRIMARY KEY, app text NOT NULL)')
        break
    except psycopg2.Error:
        time.sleep(1)
server = Server(('', 8000), Handler)
signal.signal(signal.SIGTERM, leave)
server.serve_forever()
server.server_close()
