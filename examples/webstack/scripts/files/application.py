#!/usr/bin/python3
"""Counts visits in the database. /health answers without it."""
import socket
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import local

import psycopg2

VERSION = '1.0'
NAME = socket.gethostname()
PASSWORD = open('/etc/webstack/password').read().strip()
HOST = open('/etc/webstack/database').read().strip()
connections = local()


def connection():
    if getattr(connections, 'open', None) is None:
        connections.open = psycopg2.connect(
            host=HOST, dbname='webstack', user='webstack', password=PASSWORD, connect_timeout=5
        )
        connections.open.autocommit = True
    return connections.open


def visit():
    with connection().cursor() as cursor:
        cursor.execute('INSERT INTO visits (app) VALUES (%s) RETURNING id', (NAME,))
        return cursor.fetchone()[0]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        status, text = 200, 'well\n'
        if self.path != '/health':
            try:
                text = f'webstack {VERSION} on {NAME}: visit {visit()}\n'
            except psycopg2.Error as error:
                connections.open = None
                status, text = 503, f'{NAME} has no database: {error}\n'
        body = text.encode()
        self.send_response(status)
        self.send_header('Content-Type', 'text/plain')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


while True:
    try:
        with connection().cursor() as cursor:
            cursor.execute('CREATE TABLE IF NOT EXISTS visits (id bigserial PRIMARY KEY, app text NOT NULL)')
        break
    except psycopg2.Error as error:
        connections.open = None
        print(f'waiting for the database: {error}', flush=True)
        time.sleep(1)
ThreadingHTTPServer(('', 8000), Handler).serve_forever()
